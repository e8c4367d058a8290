"""Capacity and allocatable resources of an instance type's nodes, and what EC2 sells in a region."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from sandbox.nodes import dra, ec2_types
from spec.catalog import gpus, instances, mig, prices
from spec.catalog.instances import InstanceType
from spec.catalog.prices import Book
from spec.pools.allocatable import EFA_HUGEPAGES_MIB, HUGEPAGES
from spec.pools.keys import DEVICE_PLUGIN_CONFIG, EFA, GPU, MIG_CONFIG, replicas_of

ARCHES = {"x86_64": "amd64", "arm64": "arm64"}
_MIG_PREFIX = mig.resource_name("")
DEFAULT_PODS = 110
"""The kubelet's own default (kubelet.config.k8s.io/v1beta1, maxPods)."""
DEFAULT_DISK_GIB = 20
"""EKS's default for the root volume of a Linux node (eks:CreateNodegroup, diskSize)."""
_GIB = 1 << 30
_LABEL = "karpenter.k8s.aws/instance-"
_COMMON = frozenset({"kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/instance-type"})


@dataclass(frozen=True)
class Machine:
    """An instance type as a pool configures it. `extra` has resources that only the pool's settings name, as for MIG.

    The node of a type that EC2 lacks has neither CPU nor memory.
    """

    name: str
    max_pods: int | None = None
    disk_gib: int = DEFAULT_DISK_GIB
    nvme_raid: bool = False
    efa: int = 0
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def type(self) -> InstanceType | None:
        """Facts about the type; None if EC2 has none of that name."""
        return ec2_types.find(self.name)

    @property
    def arch(self) -> str:
        """Architecture in Kubernetes' spelling."""
        return ARCHES[self.type.arch] if self.type else "amd64"

    def capacity(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Quantities of the whole machine. The node's `labels` say how its GPUs are partitioned and shared."""
        kind = self.type
        size = {"cpu": str(kind.vcpus), "memory": f"{kind.memory_mib}Mi"} if kind else {}
        return {
            **size,
            "pods": str(self._pods()),
            "ephemeral-storage": str(self._scratch_bytes()),
            **({HUGEPAGES: f"{self._huge_pages_mib()}Mi"} if self.efa else {}),
            **self._devices(labels),
        }

    def allocatable(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Quantities available to pods: capacity minus what is reserved for the system and the kubelet."""
        kind = self.type
        if kind is None:
            return self.capacity(labels)
        return {
            **self.capacity(labels),
            "cpu": f"{kind.allocatable_cpu_millis}m",
            "memory": f"{kind.allocatable_memory_at(self._pods()) - self._huge_pages_mib()}Mi",
        }

    def _huge_pages_mib(self) -> int:
        """Memory in huge pages: as much as the pods of the platform's runtimes for EFA request. How much the software
        of the adapters reserves is only known on a real node."""
        return EFA_HUGEPAGES_MIB if self.efa else 0

    def _pods(self) -> int:
        return self.max_pods or (self.type.max_pods if self.type else DEFAULT_PODS)

    def _scratch_bytes(self) -> int:
        if self.nvme_raid and self.type and self.type.nvme_gb:
            return self.type.nvme_gb * 10**9
        return self.disk_gib * _GIB

    def _devices(self, labels: Mapping[str, str]) -> dict[str, str]:
        devices = {EFA: str(self.efa)} if self.efa else {}
        # The driver for claims of devices tells a node's GPUs in a ResourceSlice (`sandbox.nodes.dra`).
        if self.type and self.type.gpus and not dra.allocates(labels):
            wanted = labels.get(MIG_CONFIG, mig.DISABLED)
            # The catalog has every model that is partitioned.
            layout = (mig.layout_of(wanted, self.type.gpu_name) if self.type.gpu_name else None) or {}
            replicas = replicas_of(labels.get(DEVICE_PLUGIN_CONFIG, ""))
            devices |= {name: str(count * replicas) for name, count in mig.resources(layout, self.type.gpus).items()}
        devices |= self.extra
        if any(name.startswith(_MIG_PREFIX) for name in devices):
            # With MIG and the strategy "mixed" the device plugin offers no whole GPU.
            devices[GPU] = "0"
        return devices


def is_about_type(label: str) -> bool:
    """Whether a label describes the instance type: its value, or its absence, depends on the type alone."""
    return label.startswith(_LABEL) or label in _COMMON


def karpenter_labels(kind: InstanceType) -> dict[str, str]:
    """The labels that Karpenter derives from an instance type (Karpenter v1.14, "NodePools", well-known labels)."""
    family, _, size = kind.name.partition(".")
    labels = {
        "kubernetes.io/arch": ARCHES[kind.arch],
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": kind.name,
        f"{_LABEL}family": family,
        f"{_LABEL}size": size,
        f"{_LABEL}category": kind.category,
        f"{_LABEL}generation": str(kind.generation),
        f"{_LABEL}cpu": str(kind.vcpus),
        f"{_LABEL}memory": str(kind.memory_mib),
        f"{_LABEL}network-bandwidth": str(kind.network_mbps),
    }
    if kind.gpus and kind.gpu_name:
        labels |= {
            f"{_LABEL}gpu-name": gpus.get(kind.gpu_name).ec2_name.lower().replace(" ", "-"),
            f"{_LABEL}gpu-manufacturer": "nvidia",
            f"{_LABEL}gpu-count": str(kind.counted_gpus),
            f"{_LABEL}gpu-memory": str(kind.gpu_memory_mib),
        }
    if kind.nvme_gb:
        labels[f"{_LABEL}local-nvme"] = str(kind.nvme_gb)
    return labels


# What EC2 sells in a region, as a file for Karpenter: the instance types of the catalog and their prices.
#
# The file is read by the provider of `sandbox/toolchain/go/karpenter`, which has the same fields in `catalog.go`.

ON_DEMAND: Final = "on-demand"
SPOT: Final = "spot"


def types(region: str) -> list[dict[str, Any]]:
    """The types that a region sells on demand or as Spot. A type is offered in each zone of the region that has it:
    which place a zone's name stands for differs between accounts."""
    book = prices.book(region)
    sold = [kind for kind in instances.ALL.values() if kind.offered_in(region) is not False]
    return [_type(kind, offered) for kind in sold if (offered := dict(_offered(kind, book)))]


def _type(kind: InstanceType, offered: Mapping[str, Decimal]) -> dict[str, Any]:
    return {
        "name": kind.name,
        "labels": karpenter_labels(kind),
        "cpu": kind.vcpus,
        "memoryMiB": kind.usable_memory_mib,
        "maxPods": kind.max_pods,
        "nvmeGB": kind.nvme_gb,
        "gpus": kind.counted_gpus,
        "efa": kind.efa_interfaces,
        "kubeReservedMillis": kind.vcpus * 1000 - kind.allocatable_cpu_millis,
        "kubeReservedMiB": instances.RESERVED_MIB,
        "kubeReservedMiBPerPod": instances.RESERVED_MIB_PER_POD,
        "evictionMiB": instances.EVICTION_MIB,
        "prices": {capacity: float(price) for capacity, price in offered.items()},
    }


def _offered(kind: InstanceType, book: Book) -> Iterator[tuple[str, Decimal]]:
    price = _price(kind, book)
    if price is None:
        return
    if ON_DEMAND in kind.markets:
        yield ON_DEMAND, price
    if SPOT in kind.markets:
        # The middle of the range for a type without a discount of its own, as in cost estimates.
        yield SPOT, price * (1 - book.spot.types.get(kind.name, (book.spot.low + book.spot.high) / 2))


def _price(kind: InstanceType, book: Book) -> Decimal | None:
    """On-demand price, of the one region that has all prices where its own has none."""
    found = book.instance(kind.name)
    return found.usd if found is not None else kind.usd_per_hour

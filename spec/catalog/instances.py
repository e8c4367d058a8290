"""EC2 instance types that Slipway's pools may use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, Literal

from spec.catalog import own_types
from spec.catalog.document import Source, load, source

_EC2: Final = load("ec2-types.json")
_KARPENTER: Final = load("karpenter.json")
SOURCES: Final[tuple[Source, ...]] = (source(_EC2), source(_KARPENTER))
OFFERING_REGIONS: Final = frozenset(_EC2["regions"])
"""Regions whose offered types are known; about other regions nothing is known."""

NEURON: Final = "aws.amazon.com/neuron"
"""Extended resource of AWS's Neuron device plugin (karpenter-provider-aws v1.15.2, pkg/apis/v1/labels.go)."""
# What Karpenter reserves on every node (karpenter-provider-aws v1.14.1, pkg/providers/instancetype/types.go): 7.5
# percent of memory for the hypervisor and the operating system, 100 MiB before the kubelet evicts, and kube-reserved of
# 255 MiB and 11 MiB a pod. The result equals the pages of Karpenter's documentation for all 18 types that were
# compared.
_VM_OVERHEAD_PERMILLE: Final = 75
EVICTION_MIB: Final = 100
RESERVED_MIB: Final = 255
RESERVED_MIB_PER_POD: Final = 11
# Millicores reserved of the first, the second, the third and fourth, and each further vCPU (same source).
_CPU_STEPS: Final = ((1, 60.0), (1, 10.0), (2, 5.0))
_CPU_REST: Final = 2.5


@dataclass(frozen=True)
class InstanceType:
    """One instance type. Sizes are those of EC2's DescribeInstanceTypes."""

    name: str
    family: str
    """Part of the name before the dot: `p4d`."""
    vcpus: int
    memory_mib: int
    arch: Literal["x86_64", "arm64"]
    gpus: int
    gpu_name: str | None
    """Key into `spec.catalog.gpus`: `A100-40GB`."""
    gpu_memory_mib: int
    """Memory of one GPU."""
    counted_gpus: int
    """GPUs that EC2 counts, and Karpenter and Cluster Autoscaler with it: 0 if the type has a part of one."""
    neuron_devices: int
    """Accelerators of Trainium or Inferentia, each a resource `NEURON`."""
    efa_interfaces: int
    """Maximum number of Elastic Fabric Adapters, one on each of `efa_cards`."""
    efa_cards: tuple[int, ...]
    """Network cards that support an EFA; all but card 0 on p6-b300."""
    network_cards: int
    network_mbps: int
    """Sustained bandwidth of all cards together, from Karpenter's generated table; of p5e.48xlarge from EC2."""
    enis: int
    """Network interfaces on all cards together."""
    primary_card_enis: int
    """Network interfaces on card 0, the only ones from which the VPC CNI assigns addresses to pods."""
    ipv4_per_eni: int
    nvme_gb: int
    """Local NVMe in GB (10^9 bytes); 0 if there is none."""
    max_pods: int
    """Maximum number of pods without prefix delegation, as EKS and Karpenter compute it."""
    markets: frozenset[str]
    """How EC2 sells it: `on-demand`, `spot`, `capacity-block`."""
    usd_per_hour: Decimal | None
    """On-demand, Linux, us-east-1; None if it is not sold on demand."""
    zone_ids: Mapping[str, tuple[str, ...]] = field(hash=False)
    """IDs of the zones that offer it, by region, for `OFFERING_REGIONS`."""

    @property
    def category(self) -> str:
        """Karpenter's label `instance-category`: `m` of m7i, `p` of p5en, `inf` of inf2."""
        return re.split(r"\d", self.family, maxsplit=1)[0]

    @property
    def generation(self) -> int:
        """Karpenter's label `instance-generation`: 7 of m7i, 5 of p5en."""
        return int(re.sub(r"^\D*(\d+).*$", r"\1", self.family))

    @property
    def regions(self) -> frozenset[str]:
        """Regions known to offer it. A region outside `OFFERING_REGIONS` may offer it as well: ask `offered_in`."""
        return frozenset(self.zone_ids)

    def offered_in(self, region: str) -> bool | None:
        """Whether a region offers the type; None if nothing is known about the region, or the type."""
        return region in self.zone_ids if self.zone_ids and region in OFFERING_REGIONS else None

    @property
    def allocatable_cpu_millis(self) -> int:
        """Millicores that are allocatable to pods, as Karpenter computes them."""
        rest, kept = self.vcpus, 0.0
        for count, millis in _CPU_STEPS:
            step = min(rest, count)
            kept, rest = kept + step * millis, rest - step
        return int(self.vcpus * 1000 - kept - rest * _CPU_REST)

    @property
    def usable_memory_mib(self) -> int:
        """MiB that the operating system has, as Karpenter computes them."""
        return self.memory_mib * (1000 - _VM_OVERHEAD_PERMILLE) // 1000

    def allocatable_memory_at(self, max_pods: int) -> int:
        """MiB that are allocatable to pods on a node with that maximum number of pods."""
        return self.usable_memory_mib - EVICTION_MIB - RESERVED_MIB - RESERVED_MIB_PER_POD * max_pods


def of(name: str, shape: Mapping[str, Any], zone_ids: Mapping[str, list[str]]) -> InstanceType:
    """The type of a row of `ec2-types.json`, or of one that is made as they are."""
    karpenter = _KARPENTER["types"].get(name, {})
    price = karpenter.get("usd_per_hour", shape.get("usd_per_hour"))
    without_efa = shape.get("cards_without_efa", ())
    return InstanceType(
        name=name,
        family=name.partition(".")[0],
        vcpus=shape["vcpus"],
        memory_mib=shape["memory_mib"],
        arch=shape["arch"],
        gpus=shape.get("gpus", 0),
        gpu_name=shape.get("gpu_name"),
        gpu_memory_mib=shape.get("gpu_memory_mib", 0),
        counted_gpus=0 if "gpu_part" in shape else shape.get("gpus", 0),
        neuron_devices=shape.get("neuron_devices", 0),
        efa_interfaces=shape["efa_interfaces"],
        efa_cards=tuple(c for c in range(shape["network_cards"]) if shape["efa_interfaces"] and c not in without_efa),
        network_cards=shape["network_cards"],
        network_mbps=karpenter.get("network_mbps", shape["network_mbps"]),
        enis=shape["enis"],
        primary_card_enis=shape["primary_card_enis"],
        ipv4_per_eni=shape["ipv4_per_eni"],
        nvme_gb=shape["nvme_gb"],
        # Each interface uses one address itself; two pods on the host network need none (EKS User Guide, "Choose an
        # optimal Amazon EC2 node instance type").
        max_pods=shape["primary_card_enis"] * (shape["ipv4_per_eni"] - 1) + 2,
        markets=frozenset(shape["markets"]),
        usd_per_hour=None if price is None else Decimal(price),
        zone_ids=MappingProxyType({region: tuple(ids) for region, ids in zone_ids.items()}),
    )


_PLACES: Final = {name: group["zone_ids"] for group in _EC2["offerings"].values() for name in group["types"]}
_OWN: Final = own_types.given(known=_EC2["types"])
OWN_SOURCES: Final[Mapping[str, Source]] = {name: source(row) for name, row in _OWN.items()}
"""Where a user took the facts of a type from that the tables lack."""
ALL: Final[Mapping[str, InstanceType]] = MappingProxyType(
    {
        name: of(name, shape, _PLACES.get(name, shape.get("zone_ids", {})))
        for name, shape in sorted({**_EC2["types"], **_OWN}.items())
    }
)
"""All types by name, sorted."""


def names() -> tuple[str, ...]:
    """Names of all types, sorted."""
    return tuple(ALL)


def find(name: str) -> InstanceType | None:
    """Return the type of that name, or None."""
    return ALL.get(name)


def closest(name: str) -> str | None:
    """Return the name most similar to a mistyped one; None if none is similar."""
    near = get_close_matches(name.lower(), ALL, n=1, cutoff=0.6)
    return near[0] if near else None


def get(name: str) -> InstanceType:
    """Return the type of that name; a KeyError suggests the most similar name."""
    kind = find(name)
    if kind is None:
        near = closest(name)
        hint = f"did you mean {near!r}?" if near else f"it has {', '.join(names())}"
        message = f"the catalog has no instance type {name!r}: {hint}"
        raise KeyError(message)
    return kind

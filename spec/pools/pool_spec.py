"""A pool, resolved from its settings, the platform and the catalog.

A `PoolSpec` is a plain value: no engine, no cloud. Node groups and NodePools are created from it, and everything that
must agree with them reads it as well: queues (labels, resources), device plugins (MIG layouts, tolerations), pods (node
selector, tolerations), cost (types, bounds), simulated nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from spec.catalog.amis import Arch
from spec.catalog.gpus import GpuModel
from spec.catalog.instances import InstanceType
from spec.naming import zone_letter
from spec.pools import keys
from spec.quantities import seconds
from spec.settings.capacity import Market
from spec.settings.pools import FoundPool, Pool, Provisioner, Role


@dataclass(frozen=True, kw_only=True)
class MigGeometry:
    """How every GPU of a pool is partitioned."""

    config: str  # name of the layout: one of mig-parted's, or `spec.catalog.mig.own_name` for one of the stack's own
    profiles: Mapping[str, int]  # instances by profile on one GPU; empty where GPUs stay whole (`all-disabled`)


@dataclass(frozen=True, kw_only=True)
class GpuSharing:
    """How the GPUs of a pool, or their MIG instances, are shared."""

    mode: Literal["time-slicing", "mps"]  # in turns or at the same time
    replicas: int  # pods per GPU or MIG instance
    config: str  # name of the device plugin's configuration, and value of the node label that selects it


@dataclass(frozen=True, kw_only=True)
class PoolSpec:
    """One pool of nodes, resolved."""

    name: str  # key of the pool in the stack file
    settings: Pool  # settings of the pool, for values that need no resolution: disk, update, disruption
    instance_types: tuple[InstanceType, ...]
    """Types in the order of the file, which is the order in which EKS tries on-demand types."""
    gpu: GpuModel | None  # model of its GPUs; None for a CPU pool
    gpu_count: int  # GPUs of one machine
    mig: MigGeometry | None  # how they are partitioned; None without MIG settings
    sharing: GpuSharing | None  # how pods share them; None if each pod has its own
    efa_count: int  # Elastic Fabric Adapters of every machine
    zones: tuple[str, ...]  # names of its zones, sorted: those that offer its types, where the stack declares zone IDs
    kubernetes: str  # minor version of its nodes
    ami_release: str | None
    """Release of its AMI: its own, or the cluster's if that is of its system and version; None for the latest."""
    labels: Mapping[str, str]  # labels of its nodes, sorted by key
    taints: tuple[Taint, ...]  # taints of its nodes, sorted by key
    resources: Mapping[str, int]
    """Extended resources that one node offers, sorted by name: GPUs or MIG instances, each as often as it is shared,
    and EFA."""
    fallbacks: tuple[PoolSpec, ...] = ()
    """Capacity that is tried after the pool's own, in this order, each as a pool whose nodes have the labels, taints
    and resources of this one."""

    @property
    def pool(self) -> str:
        """Name of the pool that workloads, queues and bills know: of a fallback, that of its pool."""
        return self.name if isinstance(self.settings, FoundPool) else self.labels[keys.POOL]

    @property
    def may_be_spot(self) -> bool:
        """Whether a job on the pool may run on Spot nodes."""
        return any(each.market is Market.SPOT for each in (self, *self.fallbacks))

    @property
    def role(self) -> Role:
        """Role of the pool."""
        return self.settings.role

    @property
    def market(self) -> Market:
        """EC2 purchase option of its machines."""
        return self.settings.capacity.market

    @property
    def managed(self) -> bool:
        """Whether it is an EKS managed node group; a Karpenter NodePool otherwise."""
        return self.settings.provisioner is Provisioner.MANAGED

    @property
    def dra(self) -> bool:
        """Whether its GPUs are allocated by claims of devices (Dynamic Resource Allocation)."""
        return self.gpu is not None and self.settings.gpu_allocation == keys.DRA

    @property
    def claimed(self) -> tuple[str, ...]:
        """Extended resources that its nodes give by claims: whole GPUs, or MIG instances by profile."""
        return tuple(name for name in self.resources if self.dra and name.startswith(keys.NVIDIA))

    @property
    def scales(self) -> bool:
        """Whether its number of nodes is autoscaled."""
        return self.settings.min < self.settings.max

    @property
    def capacity_block(self) -> bool:
        """Whether its machines are in a Capacity Block."""
        reservation = self.settings.capacity.reservation
        return reservation is not None and reservation.kind == "capacity-block"

    @property
    def waiting(self) -> bool:
        """Whether it is a managed pool on a Capacity Block that is not active: it has 0 nodes until it is, and for
        an upgrade (EKS User Guide, "Create a managed node group with Capacity Blocks for ML", read 2026-11)."""
        reservation = self.settings.capacity.reservation
        return self.managed and self.capacity_block and reservation is not None and not reservation.active

    @property
    def placement_group(self) -> bool:
        """Whether the pool gets its own cluster placement group.

        EFA pools do, except on reserved capacity: EC2 itself places instances of a Capacity Block close together, and a
        Capacity Reservation is bound to a placement group, if any, when it is created (EC2 User Guide, "Capacity Blocks
        for ML"; ec2:CreateCapacityReservation, PlacementGroupArn).
        """
        return self.efa_count > 0 and self.market is not Market.RESERVED

    @property
    def arch(self) -> Arch:
        """Processor architecture of all its types, in EC2's spelling."""
        return self.instance_types[0].arch

    @property
    def plain(self) -> bool:
        """Whether any image runs on it that needs no GPU: it has none, and its nodes are not arm64."""
        return self.gpu is None and self.arch == "x86_64"

    @property
    def zone_letters(self) -> tuple[str, ...]:
        """Letters of its zones, the keys of the network's subnets."""
        return tuple(zone_letter(zone) for zone in self.zones)

    @property
    def tolerations(self) -> tuple[Toleration, ...]:
        """What a pod must tolerate to run here. A pod that requests `nvidia.com/gpu` gets the one of that key
        automatically if the API server runs ExtendedResourceToleration; one that requests MIG instances gets none."""
        return tuple(taint.toleration for taint in self.taints)

    @property
    def node_selector(self) -> Mapping[str, str]:
        """Node selector of pods that run only on this pool."""
        found = self.settings.selector if isinstance(self.settings, FoundPool) else {keys.POOL: self.pool}
        return MappingProxyType(found)

    @property
    def scratch_gib(self) -> int:
        """Space for images, logs and scratch on one node, GiB."""
        return self.settings.scratch_gib(kind.nvme_gb for kind in self.instance_types)


Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

_EKS_EFFECTS: Final[Mapping[Effect, str]] = MappingProxyType(
    # eks:CreateNodegroup, TaintEffect (botocore 1.44.5, eks service-2.json).
    {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
)


@dataclass(frozen=True, order=True)
class Toleration:
    """Lets a pod run on a tainted node."""

    key: str
    value: str
    effect: Effect

    @property
    def manifest(self) -> dict[str, str]:
        """Entry of a pod's `tolerations`."""
        return {"key": self.key, "operator": "Equal", "value": self.value, "effect": self.effect}

    def tolerates(self, taint: Taint) -> bool:
        """Whether the taint no longer keeps the pod away (kubernetes.io, "Taints and Tolerations")."""
        return (self.key, self.value, self.effect) == (taint.key, taint.value, taint.effect)


@dataclass(frozen=True, order=True)
class Taint:
    """Keeps pods off a node unless they tolerate it."""

    key: str
    value: str
    effect: Effect

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"

    @property
    def manifest(self) -> dict[str, str]:
        """Entry of `taints` in a Node or a NodePool; without an empty value, which Karpenter's CRD refuses."""
        return {"key": self.key, **({"value": self.value} if self.value else {}), "effect": self.effect}

    @property
    def eks_effect(self) -> str:
        """Effect in the spelling of EKS node groups: `NO_SCHEDULE`."""
        return _EKS_EFFECTS[self.effect]

    @property
    def toleration(self) -> Toleration:
        """The toleration of exactly this taint."""
        return Toleration(self.key, self.value, self.effect)


BOTTLEROCKET_SYSTEM_GIB: Final = 4
"""Size of Bottlerocket's own volume in Karpenter (v1.14.1, pkg/providers/amifamily/bottlerocket.go)."""
GP3_IOPS: Final = 3000
GP3_MIBPS: Final = 125
"""Performance that is included in every gp3 volume (EBS User Guide, "General Purpose SSD volumes")."""


@dataclass(frozen=True, kw_only=True)
class Volume:
    """One EBS volume of a machine."""

    device: str  # device name in EC2
    size_gib: int  # size in GiB
    iops: int  # i/O operations per second
    throughput_mibps: int  # throughput in MiB/s
    holds_data: bool  # whether images, logs and scratch space are on it, and not only the operating system


def volumes(spec: PoolSpec) -> tuple[Volume, ...]:
    """Volumes in the order of their devices. Bottlerocket has its system on a separate, small first volume
    (bottlerocket.dev, "Concepts", data and OS volumes)."""
    disk = spec.settings.disk
    data = Volume(
        device="/dev/xvdb" if spec.settings.os == "bottlerocket" else "/dev/xvda",
        size_gib=disk.size_gib,
        iops=disk.iops,
        throughput_mibps=disk.throughput_mibps,
        holds_data=True,
    )
    if spec.settings.os != "bottlerocket":
        return (data,)
    system = Volume(
        device="/dev/xvda",
        size_gib=BOTTLEROCKET_SYSTEM_GIB,
        iops=GP3_IOPS,
        throughput_mibps=GP3_MIBPS,
        holds_data=False,
    )
    return (system, data)


# Karpenter deletes a node at `expireAfter`, and replaces it when its NodeClass or AMI changes; both begin with a drain.
# The drain waits for pods with the annotation `karpenter.sh/do-not-disrupt`, but not longer than
# `terminationGracePeriod` (kubernetes-sigs/karpenter v1.14.1, pkg/controllers/disruption/types.go,
# EventualDisruptionClass; pkg/controllers/node/termination/terminator/terminator.go). A node's age is not that of the
# job: a job may start a minute before the drain. So only the drain bounds what a job can rely on.
def guaranteed_seconds(spec: PoolSpec) -> int | None:
    """Seconds that a drain of the pool's nodes waits for a running job; None where no drain ends it by itself.

    A managed node group replaces nodes only when it is updated. Spot nodes are not guaranteed for any time: their jobs
    checkpoint.
    """
    if spec.managed or spec.market is Market.SPOT:
        return None
    return seconds(spec.settings.disruption.termination_grace_period)


def facts(spec: PoolSpec) -> dict[str, Any]:
    """A pool in plain values, known before anything is created; keys in camel case like all outputs of components.

    Policies over several pools (total GPUs, maximum price, quotas that fit) read these and never an unknown output,
    which would disable them in the first preview.
    """
    settings = spec.settings
    return {
        "name": spec.pool,
        "fallback": spec.name if spec.name != spec.pool else None,
        "role": str(spec.role),
        "provisioner": str(settings.provisioner),
        "market": str(spec.market),
        "instanceTypes": [kind.name for kind in spec.instance_types],
        "zones": list(spec.zones),
        "min": settings.min,
        "max": settings.max,
        "maxPods": settings.max_pods,
        "gpu": spec.gpu.name if spec.gpu else None,
        "gpuCount": spec.gpu_count,
        "draGpuCount": spec.gpu_count if spec.dra else 0,
        "mig": dict(spec.mig.profiles) if spec.mig else {},
        "sharing": {"mode": spec.sharing.mode, "replicas": spec.sharing.replicas} if spec.sharing else None,
        "efaCount": spec.efa_count,
        "labels": dict(spec.labels),
        "taints": [taint.manifest for taint in spec.taints],
        "resources": dict(spec.resources),
    }

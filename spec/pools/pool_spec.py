"""A pool, resolved from its settings, the platform and the catalog.

A `PoolSpec` is a plain value: no engine, no cloud. Node groups and NodePools are created from it, and everything that
must agree with them reads it as well: queues (labels, resources), device plugins (MIG layouts, tolerations), pods (node
selector, tolerations), cost (types, bounds), simulated nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from spec.catalog.amis import Arch
from spec.catalog.gpus import GpuModel
from spec.catalog.instances import InstanceType
from spec.naming import zone_letter
from spec.pools import keys
from spec.pools.taints import Taint, Toleration
from spec.settings.capacity import Market
from spec.settings.pools import Pool, Provisioner, Role


@dataclass(frozen=True, kw_only=True)
class MigGeometry:
    """How every GPU of a pool is partitioned.

    Attributes:
        config: Name of the layout: one of mig-parted's, or `spec.catalog.mig.own_name` for one of the stack's own.
        profiles: Instances by profile on one GPU; empty where GPUs stay whole (`all-disabled`).
    """

    config: str
    profiles: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class GpuSharing:
    """How the GPUs of a pool, or their MIG instances, are shared.

    Attributes:
        mode: In turns or at the same time.
        replicas: Pods per GPU or MIG instance.
        config: Name of the device plugin's configuration, and value of the node label that selects it.
    """

    mode: Literal["time-slicing", "mps"]
    replicas: int
    config: str


@dataclass(frozen=True, kw_only=True)
class PoolSpec:
    """One pool of nodes, resolved.

    Attributes:
        name: Key of the pool in the stack file.
        settings: Settings of the pool, for values that need no resolution: disk, update, disruption.
        instance_types: Types in the order of the file, which is the order in which EKS tries on-demand types.
        gpu: Model of its GPUs; None for a CPU pool.
        gpu_count: GPUs of one machine.
        mig: How they are partitioned; None without MIG settings.
        sharing: How pods share them; None if each pod has its own.
        efa_count: Elastic Fabric Adapters of every machine.
        zones: Names of its zones, sorted: those that offer its types, where the stack declares zone IDs.
        kubernetes: Minor version of its nodes.
        labels: Labels of its nodes, sorted by key.
        taints: Taints of its nodes, sorted by key.
        resources: Extended resources that one node offers, sorted by name: GPUs or MIG instances, each as often as it
            is shared, and EFA.
        fallbacks: Capacity that is tried after the pool's own, in this order, each as a pool whose nodes have the
            labels, taints and resources of this one.
    """

    name: str
    settings: Pool
    instance_types: tuple[InstanceType, ...]
    gpu: GpuModel | None
    gpu_count: int
    mig: MigGeometry | None
    sharing: GpuSharing | None
    efa_count: int
    zones: tuple[str, ...]
    kubernetes: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    resources: Mapping[str, int]
    fallbacks: tuple[PoolSpec, ...] = ()

    @property
    def pool(self) -> str:
        """Name of the pool that workloads, queues and bills know: of a fallback, that of its pool."""
        return self.labels[keys.POOL]

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
        return MappingProxyType({keys.POOL: self.pool})

    @property
    def scratch_gib(self) -> int:
        """Space for images, logs and scratch on one node, GiB: the local disks as one RAID0, else the root volume."""
        if self.settings.local_nvme == "raid0":
            smallest = min(kind.nvme_gb for kind in self.instance_types)
            return smallest * 10**9 // 2**30
        return self.settings.disk.size_gib

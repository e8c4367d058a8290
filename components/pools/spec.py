"""What a pool is, once its settings, the platform and the catalog are put together.

A `PoolSpec` is a plain value: no engine, no cloud. Node groups and NodePools are made from it, and whatever must agree
with them reads it as well: queues (labels, resources), device plugins (MIG layouts, tolerations), pods (node selector,
tolerations), cost (types, bounds), simulated nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeVar

from components.pools import keys
from components.pools.taints import Taint, Toleration
from infra.catalog import gpus, instances, mig
from infra.catalog.amis import Arch
from infra.catalog.gpus import GpuModel
from infra.catalog.instances import InstanceType
from infra.config.capacity import Market, Mig, Sharing
from infra.config.platform import Platform
from infra.config.pools import Pool, Provisioner, Role
from infra.naming import zone_letter
from infra.sharing import config_name

NO_SCHEDULE: Final = "NoSchedule"
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class MigGeometry:
    """How every GPU of a pool is cut.

    Attributes:
        config: Name of the layout: one of mig-parted's, or `infra.catalog.mig.own_name` for one of the stack's own.
        profiles: Instances by profile on one GPU; empty where GPUs stay whole (`all-disabled`).
        own: Whether the layout must be written into the MIG manager's configuration, because NVIDIA's has no such name.
    """

    config: str
    profiles: Mapping[str, int]
    own: bool


@dataclass(frozen=True, kw_only=True)
class GpuSharing:
    """How the GPUs of a pool, or their MIG instances, are shared.

    Attributes:
        mode: In turns or at the same time.
        replicas: Pods on each.
        config: Name of the device plugin's configuration, and value of the node label that chooses it.
    """

    mode: Literal["time-slicing", "mps"]
    replicas: int
    config: str


@dataclass(frozen=True, kw_only=True)
class PoolSpec:
    """One pool of nodes, resolved.

    Attributes:
        name: Key of the pool in the stack file.
        settings: Its settings, for what needs no resolving: disk, update, disruption.
        instance_types: Its types in the order of the file, which is the order in which EKS takes on-demand types.
        gpu: Model of its GPUs; None for a CPU pool.
        gpu_count: GPUs of one machine.
        mig: How they are cut; None where MIG was not asked for.
        sharing: How pods share them; None where each has its own.
        efa_count: Elastic Fabric Adapters that every machine gets.
        zones: Names of its zones, sorted.
        kubernetes: Minor version of its nodes.
        labels: Labels of its nodes, sorted by key.
        taints: Taints of its nodes, sorted by key.
        resources: Extended resources that one node offers, sorted by name: GPUs or MIG instances, each as often as it
            is shared, and EFA.
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

    @property
    def role(self) -> Role:
        """What the pool is for."""
        return self.settings.role

    @property
    def market(self) -> Market:
        """How its machines are bought."""
        return self.settings.capacity.market

    @property
    def managed(self) -> bool:
        """Whether it is an EKS managed node group; a Karpenter NodePool otherwise."""
        return self.settings.provisioner is Provisioner.MANAGED

    @property
    def scales(self) -> bool:
        """Whether its number of nodes follows the work."""
        return self.settings.min < self.settings.max

    @property
    def capacity_block(self) -> bool:
        """Whether its machines come from a Capacity Block."""
        reservation = self.settings.capacity.reservation
        return reservation is not None and reservation.kind == "capacity-block"

    @property
    def placement_group(self) -> bool:
        """Whether the pool gets a cluster placement group of its own.

        EFA pools do, except on reserved capacity: EC2 itself places instances of a Capacity Block close together, and a
        Capacity Reservation is tied to a placement group, if to any, when it is made (EC2 User Guide, "Capacity Blocks
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
        """What a pod must tolerate to run here. A pod that asks for `nvidia.com/gpu` gets the one of that key by itself
        where the API server runs ExtendedResourceToleration; one that asks for MIG instances gets none."""
        return tuple(taint.toleration for taint in self.taints)

    @property
    def node_selector(self) -> Mapping[str, str]:
        """What a pod selects to run on this pool and on no other."""
        return MappingProxyType({keys.POOL: self.name})

    @property
    def scratch_gib(self) -> int:
        """Space for images, logs and scratch on one node, GiB: the local disks as one RAID0, else the root volume."""
        if self.settings.local_nvme == "raid0":
            smallest = min(kind.nvme_gb for kind in self.instance_types)
            return smallest * 10**9 // 2**30
        return self.settings.disk.size_gib


def resolve(name: str, pool: Pool, platform: Platform) -> PoolSpec:
    """Put one pool together. The settings must have passed their checks: all types exist and have the same GPUs."""
    kinds = tuple(instances.get(kind) for kind in pool.instance_types)
    gpu = gpus.get(kinds[0].gpu_name) if kinds[0].gpu_name else None
    gpu_count = kinds[0].gpus
    geometry = _geometry(name, pool.mig, gpu)
    sharing = _sharing(pool.sharing) if gpu else None
    efa_count = min(kind.efa_interfaces for kind in kinds) if pool.efa else 0
    return PoolSpec(
        name=name,
        settings=pool,
        instance_types=kinds,
        gpu=gpu,
        gpu_count=gpu_count,
        mig=geometry,
        sharing=sharing,
        efa_count=efa_count,
        zones=tuple(sorted(pool.zones or platform.network.zones)),
        kubernetes=pool.version or platform.cluster.version,
        labels=_sorted(_labels(name, pool, gpu, gpu_count, geometry, sharing)),
        taints=tuple(sorted(_taints(name, pool, gpu))),
        resources=_sorted(_resources(gpu, gpu_count, geometry, sharing, efa_count)),
    )


def resolve_all(platform: Platform) -> dict[str, PoolSpec]:
    """Every pool of the platform by name, sorted, so that the order of the stack file means nothing."""
    return {name: resolve(name, pool, platform) for name, pool in sorted(platform.pools.items())}


def _geometry(name: str, setting: Mig | None, gpu: GpuModel | None) -> MigGeometry | None:
    if setting is None or gpu is None:
        return None
    if setting.layout is None:
        return MigGeometry(config=mig.own_name(setting.profiles), profiles=_sorted(setting.profiles), own=True)
    profiles = mig.named_layout(setting.layout, gpu.name)
    if profiles is None:
        known = ", ".join(mig.layout_names(gpu.name))
        msg = f"pools.{name}.mig.layout: {gpu.name} has no layout {setting.layout!r}: use one of {known}"
        raise ValueError(msg)
    return MigGeometry(config=setting.layout, profiles=_sorted(profiles), own=False)


def _sharing(setting: Sharing | None) -> GpuSharing | None:
    if setting is None:
        return None
    config = config_name(setting.mode, setting.replicas)
    return GpuSharing(mode=setting.mode, replicas=setting.replicas, config=config)


def _labels(
    name: str,
    pool: Pool,
    gpu: GpuModel | None,
    gpu_count: int,
    geometry: MigGeometry | None,
    sharing: GpuSharing | None,
) -> dict[str, str]:
    labels = {**pool.labels, keys.POOL: name, keys.ROLE: str(pool.role)}
    if gpu is None:
        return labels
    labels |= {keys.GPU: "true", keys.ACCELERATOR: gpu.accelerator, keys.GPU_COUNT: str(gpu_count)}
    if geometry is not None:
        labels[keys.MIG_CONFIG] = geometry.config
    if sharing is not None:
        labels[keys.DEVICE_PLUGIN_CONFIG] = sharing.config
    if pool.provisioner is Provisioner.MANAGED and not (geometry and geometry.profiles):
        # Not on nodes whose GPUs are cut: they offer no whole GPU, and Cluster Autoscaler takes a node with this label
        # and without `nvidia.com/gpu` for one that is still starting (kubernetes/autoscaler#8095, open in 2026-04).
        labels[keys.AUTOSCALER_GPU] = gpu.accelerator
    return labels


def _taints(name: str, pool: Pool, gpu: GpuModel | None) -> list[Taint]:
    # The system pool has no taint of its own: the controller of the Mountpoint for S3 add-on can't be given a
    # toleration (aws/containers-roadmap#2676, open in 2025-09), and metrics-server and most charts bring none for
    # CriticalAddonsOnly. Who wants that taint names it in `taints` of the pool.
    taints = [Taint(key, taint.value, taint.effect) for key, taint in pool.taints.items()]
    if gpu is not None:
        taints += [Taint(keys.GPU, "true", NO_SCHEDULE), Taint(keys.POOL, name, NO_SCHEDULE)]
    if pool.dedicated:
        taints.append(Taint(keys.DEDICATED, keys.DEDICATED_VALUE, NO_SCHEDULE))
    return taints


def _resources(
    gpu: GpuModel | None, gpu_count: int, geometry: MigGeometry | None, sharing: GpuSharing | None, efa_count: int
) -> dict[str, int]:
    devices = mig.resources(geometry.profiles if geometry else {}, gpu_count) if gpu else {}
    times = sharing.replicas if sharing else 1
    return {name: count * times for name, count in devices.items()} | ({keys.EFA: efa_count} if efa_count else {})


def _sorted(values: Mapping[str, _T]) -> Mapping[str, _T]:
    return MappingProxyType(dict(sorted(values.items())))

"""Resolution of a pool: its settings, the place and the catalog become a `PoolSpec`."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

from spec.catalog import gpus, instances, mig
from spec.catalog.amis import Arch
from spec.catalog.gpus import GpuModel
from spec.pools import keys
from spec.pools.keys import config_name
from spec.pools.pool_spec import GpuSharing, MigGeometry, PoolSpec, Taint
from spec.settings.capacity import Mig, Sharing
from spec.settings.pools import FoundPool, Pool, Provisioner
from spec.settings.zones import Place

NO_SCHEDULE: Final = "NoSchedule"
_T = TypeVar("_T")


class Fleet(Protocol):
    """Pools by name, and where they are: the settings of a platform."""

    @property
    def pools(self) -> Mapping[str, Pool]:
        """Settings of the pools."""

    @property
    def place(self) -> Place:
        """Cluster and network."""


def resolve(name: str, pool: Pool, place: Place) -> PoolSpec:
    """Resolve one pool. The settings must have passed their checks: all types exist and have the same GPUs."""
    fallbacks = (_resolve(f"{name}-{fallback}", name, one, place) for fallback, one in pool.fallbacks.items())
    return replace(_resolve(name, name, pool, place), fallbacks=tuple(fallbacks))


def _resolve(name: str, of: str, pool: Pool, place: Place) -> PoolSpec:
    kinds = tuple(instances.get(kind) for kind in pool.instance_types)
    gpu = gpus.get(kinds[0].gpu_name) if kinds[0].gpu_name else None
    gpu_count = kinds[0].gpus
    geometry = _geometry(of, pool.mig, gpu)
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
        zones=tuple(sorted(place.zones_of(pool))),
        kubernetes=pool.version or place.version,
        ami_release=pool.ami_release or _release(pool, place),
        labels=_sorted(_labels(of, pool, gpu, gpu_count, geometry, sharing)),
        taints=tuple(sorted(_taints(of, pool, gpu, kinds[0].arch))),
        resources=_sorted(
            pool.devices if isinstance(pool, FoundPool) else _resources(gpu, gpu_count, geometry, sharing, efa_count)
        ),
    )


def _release(pool: Pool, place: Place) -> str | None:
    """The cluster's release, of AL2023 for its own Kubernetes version."""
    return place.ami_release if pool.os == "al2023" and pool.version in (None, place.version) else None


def resolve_all(fleet: Fleet) -> dict[str, PoolSpec]:
    """Every pool by name, sorted, so that the order of the stack file has no effect."""
    return {name: resolve(name, pool, fleet.place) for name, pool in sorted(fleet.pools.items())}


def _geometry(name: str, setting: Mig | None, gpu: GpuModel | None) -> MigGeometry | None:
    if setting is None or gpu is None:
        return None
    if setting.layout is None:
        return MigGeometry(config=mig.own_name(setting.profiles), profiles=_sorted(setting.profiles))
    profiles = mig.named_layout(setting.layout, gpu.name)
    if profiles is None:
        known = ", ".join(mig.layout_names(gpu.name))
        msg = f"pools.{name}.mig.layout: {gpu.name} has no layout {setting.layout!r}: use one of {known}"
        raise ValueError(msg)
    return MigGeometry(config=setting.layout, profiles=_sorted(profiles))


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
    if isinstance(pool, FoundPool):
        return dict(pool.labels)
    labels = {**pool.labels, keys.POOL: name, keys.ROLE: str(pool.role)}
    if gpu is None:
        return labels
    labels |= {keys.GPU: "true", keys.ACCELERATOR: gpu.accelerator, keys.GPU_COUNT: str(gpu_count)}
    if geometry is not None:
        labels[keys.MIG_CONFIG] = geometry.config
    if sharing is not None:
        labels[keys.DEVICE_PLUGIN_CONFIG] = sharing.config
    dra = pool.gpu_allocation == keys.DRA
    if dra:
        labels[keys.GPU_ALLOCATION] = keys.DRA
    if pool.provisioner is Provisioner.MANAGED and not dra and not (geometry and geometry.profiles):
        # Not on nodes with partitioned GPUs, or with claims of devices: they don't report whole ones, and Cluster
        # Autoscaler considers a node with this label and without `nvidia.com/gpu` as still starting
        # (kubernetes/autoscaler#8095, open in 2026-04).
        labels[keys.AUTOSCALER_GPU] = gpu.accelerator
    return labels


def _taints(name: str, pool: Pool, gpu: GpuModel | None, arch: Arch) -> list[Taint]:
    # The system pool has no taint by default: the controller of the Mountpoint for S3 add-on can't have a toleration
    # (aws/containers-roadmap#2676, open in 2025-09), and metrics-server and most charts have none for
    # CriticalAddonsOnly. `taints` of the pool can add that taint.
    taints = [Taint(key, taint.value, taint.effect) for key, taint in pool.taints.items()]
    if isinstance(pool, FoundPool):
        return taints
    if gpu is not None:
        taints += [Taint(keys.GPU, "true", NO_SCHEDULE), Taint(keys.POOL, name, NO_SCHEDULE)]
    if arch == "arm64":
        taints.append(Taint(keys.ARCH, arch, NO_SCHEDULE))
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

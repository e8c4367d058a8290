"""The node pools of a stack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final

from slipway.report.model import PoolView, Slice
from spec.catalog import mig
from spec.pools.pool_spec import PoolSpec
from spec.pricing import Estimate
from spec.settings.pools import Role

_ORDER: Final = (Role.TRAINING, Role.INFERENCE, Role.INTERACTIVE, Role.GENERAL, Role.SYSTEM)


_SERVICE: Final = "EC2"
_UNIT: Final = "node"
"""Service and unit of the estimate's lines for nodes."""


def pools(specs: Iterable[PoolSpec], bill: Estimate) -> tuple[PoolView, ...]:
    """Every pool: GPU pools first, by descending number of GPUs, then by role and name."""

    def rank(spec: PoolSpec) -> tuple[bool, int, int, str]:
        return (not spec.gpu_count, -spec.gpu_count * spec.settings.max, _ORDER.index(spec.role), spec.name)

    return tuple(_pool(spec, bill) for spec in sorted(specs, key=rank))


def _pool(spec: PoolSpec, bill: Estimate) -> PoolView:
    low, high = _price(spec.name, bill)
    slices = tuple(_slices(spec))
    return PoolView(
        name=spec.name,
        role=str(spec.role),
        market=str(spec.market),
        provisioner="managed node group" if spec.managed else "Karpenter",
        types=tuple(kind.name for kind in spec.instance_types),
        zones=spec.zones,
        minimum=spec.settings.min,
        maximum=spec.settings.max,
        gpus=spec.gpu_count,
        gpu=spec.gpu.name if spec.gpu else "",
        slices=slices,
        unused_slices=mig.COMPUTE_SLICES - sum(one.compute for one in slices) if slices else 0,
        shared=f"{spec.sharing.replicas} pods per GPU by {spec.sharing.mode}" if spec.sharing else "",
        taints=tuple(f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}" for taint in spec.taints),
        facts=tuple(_facts(spec)),
        low=low,
        high=high,
    )


def _slices(spec: PoolSpec) -> Iterator[Slice]:
    """MIG instances of one GPU, largest first."""
    if spec.mig is None or spec.gpu is None:
        return
    shapes = mig.PROFILES[spec.gpu.name]
    for profile, count in sorted(spec.mig.profiles.items(), key=lambda one: (-shapes[one[0]].compute, one[0])):
        for _ in range(count):
            yield Slice(profile=profile, compute=shapes[profile].compute)


def _facts(spec: PoolSpec) -> Iterator[tuple[str, str]]:
    yield "CPU", _range([kind.vcpus for kind in spec.instance_types], "vCPUs")
    yield "Memory", _range([kind.memory_mib // 1024 for kind in spec.instance_types], "GiB")
    if spec.gpu is not None:
        yield "GPU memory", _range([kind.gpu_memory_mib // 1024 for kind in spec.instance_types], "GiB per GPU")
    if spec.efa_count:
        yield "EFA", f"{spec.efa_count} adapters per node"
    if spec.mig is not None:
        yield "MIG layout", spec.mig.config
    if spec.sharing is not None:
        yield "Sharing", f"{spec.sharing.mode}, {spec.sharing.replicas} pods per GPU"
    reservation = spec.settings.capacity.reservation
    if reservation is not None:
        kind = "Capacity Block" if spec.capacity_block else "Capacity Reservation"
        yield kind, reservation.id
    disk = spec.settings.disk
    yield "Disk", f"{disk.size_gib} GiB gp3" + (", local NVMe as RAID0" if spec.settings.local_nvme == "raid0" else "")
    yield "OS", "Amazon Linux 2023" if spec.settings.os == "al2023" else "Bottlerocket"


def _range(numbers: Iterable[int], unit: str) -> str:
    values = sorted(set(numbers))
    text = f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}"
    return f"{text} {unit}"


def _price(name: str, bill: Estimate) -> tuple[Decimal | None, Decimal | None]:
    """Lowest and highest price of a node in the estimate, USD per hour; None without a price."""
    lines = [line for line in bill.lines if line.pool == name and line.unit == _UNIT and line.service == _SERVICE]
    return min((line.low for line in lines), default=None), max((line.high for line in lines), default=None)

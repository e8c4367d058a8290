"""The pools of a team, and what a pod on one GPU, one MIG instance or one whole node requests there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from components.workloads import Resources, Target
from spec.pools import PoolSpec, keys
from spec.pools.allocatable import allocatable
from spec.pricing.pools import node_hourly
from spec.quantities import CPU, format_mebibytes, quantity
from spec.settings.pools import Role

MIG: Final = "nvidia.com/mig-"
_UNKNOWN: Final = Decimal("Infinity")
_CPU: Final = (2000, 4000)
_MEMORY: Final = (8 * 1024, 16 * 1024)
"""At least 2 vCPUs and 8 GiB, if a node type has that for each GPU. At most 4 vCPUs and 16 GiB: a quickstart leaves the
rest of a large node to others."""
_WHOLE_PERCENT: Final = 90
"""Part of a whole node's memory and CPU: the rest is for huge pages of EFA and for rounding."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One GPU, MIG instance, share of a GPU, or a CPU-only part of a node.

    Attributes:
        pool: The pool.
        device: Resource name of the GPU or MIG instance; None on a CPU pool.
        price: USD an hour of the unit at list price; infinite if unknown.
    """

    pool: PoolSpec
    device: str | None
    price: Decimal

    @property
    def mig(self) -> str | None:
        """MIG profile, if it is an instance."""
        return self.device.removeprefix(MIG) if self.device and self.device.startswith(MIG) else None

    def resources(self) -> Resources:
        """Requests of a pod on one unit: its part of the smallest node, within the bounds of a quickstart.

        On a shared GPU never more than that part: Karpenter launches the smallest node for the first pod, and the
        others could use no share of it.
        """
        share = _share(self.pool, self.device)
        nodes = allocatable(self.pool)
        largest = min if self.pool.sharing else max
        cpu = _within(_CPU, share, [node.cpu_millis for node in nodes], largest)
        memory = _within(_MEMORY, share, [node.memory_mib for node in nodes], largest)
        amounts = _written(cpu, memory)
        if self.mig:
            return Resources(cpu=amounts[0], memory=amounts[1], mig={self.mig: 1})
        return Resources(cpu=amounts[0], memory=amounts[1], gpus=1 if self.device else 0)

    def node(self) -> Resources:
        """Requests of a pod on a whole node: all GPUs and network adapters."""
        smallest = min(allocatable(self.pool), key=lambda node: node.cpu_millis)
        cpu, memory = (part * _WHOLE_PERCENT // 100 for part in (smallest.cpu_millis, smallest.memory_mib))
        amounts = _written(cpu // 1000 * 1000 or cpu, memory // 1024 * 1024 or memory)
        efa = self.pool.resources.get(keys.EFA, 0)
        return Resources(cpu=amounts[0], memory=amounts[1], gpus=self.pool.resources.get(keys.GPU, 0), efa=efa)


def units(target: Target) -> Iterator[Unit]:
    """One unit of every pool that the team has a share of, the lowest-priced first. Of a pool with several MIG profiles
    the smallest instance."""
    shares = target.pools if target.shares is None else target.shares
    pools = [target.pools[name] for name in shares if name in target.pools]
    usable = [pool for pool in pools if pool.role is not Role.SYSTEM and not pool.waiting and pool.settings.max]
    found = [Unit(pool=pool, device=_device(pool), price=_price(pool, _device(pool))) for pool in usable]
    yield from sorted(found, key=lambda unit: (unit.price, unit.pool.name))


def _device(pool: PoolSpec) -> str | None:
    names = [name for name in pool.resources if name.startswith("nvidia.com/")]
    return min(names, key=lambda name: (_weight(name), name), default=None)


def _weight(device: str) -> int:
    """Compute slices of a MIG instance; 1 for a GPU, which is never beside instances."""
    return int(device.removeprefix(MIG).partition("g")[0]) if device.startswith(MIG) else 1


def _share(pool: PoolSpec, device: str | None) -> Decimal:
    """Part of a node that one unit is; a CPU pool counts as one."""
    if device is None:
        return Decimal(1)
    whole = sum(_weight(name) * count for name, count in pool.resources.items() if name.startswith("nvidia.com/"))
    return Decimal(_weight(device)) / whole


def _price(pool: PoolSpec, device: str | None) -> Decimal:
    hourly = node_hourly(pool)
    return _UNKNOWN if hourly is None else hourly * _share(pool, device)


def _within(bounds: tuple[int, int], share: Decimal, nodes: list[int], largest: Callable[[list[int]], int]) -> int:
    """A part of the smallest node, raised to the lower bound as far as that part of another node allows."""
    low, high = bounds
    part, most = int(min(nodes) * share), int(largest(nodes) * share)
    return min(high, max(part, min(low, most)))


def _written(cpu: int, memory: int) -> tuple[str, str]:
    """Multiples of 0.1 vCPU and 256 MiB."""
    return quantity(CPU, max(100, cpu // 100 * 100)), format_mebibytes(max(256, memory // 256 * 256))

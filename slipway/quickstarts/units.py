"""The pools of a team, what a pod requests there, and what a quickstart costs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from components.workloads import Resources, Target, WorkloadManifests
from slipway.quickstarts.request import Attempt
from spec.catalog.prices import HOURS_PER_MONTH
from spec.pools import PoolSpec, keys
from spec.pools.allocatable import allocatable
from spec.pricing.model import Line
from spec.pricing.pods import HOUR, StartedNode, deadline, hours, started, usd
from spec.quantities import CPU, format_mebibytes, parse, quantity, to_mebibytes
from spec.settings import Platform
from spec.settings.capacity import Market
from spec.settings.pools import Role

# The pools of a team, and what a pod on one GPU, one MIG instance or one whole node requests there.


_CPU: Final = (2000, 4000)
_MEMORY: Final = (8 * 1024, 16 * 1024)
"""At least 2 vCPUs and 8 GiB, if a node type has that for each GPU. At most 4 vCPUs and 16 GiB: a quickstart leaves the
rest of a large node to others."""
_WHOLE_PERCENT: Final = 90  # part of a whole node's memory and CPU: the rest is for huge pages of EFA and for rounding


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One GPU, MIG instance, share of a GPU, or a CPU-only part of a node."""

    pool: PoolSpec
    device: str | None  # resource name of the GPU or MIG instance; None on a CPU pool
    platform: Platform  # the platform, for prices

    @property
    def share(self) -> Decimal:
        """Part of a node that the unit is; a CPU pool counts as one."""
        return _share(self.pool, self.device)

    def node(self, resources: Resources) -> StartedNode:
        """The node that the pool starts for a pod with these requests."""
        cpu, memory = int(parse(resources.cpu) * 1000), int(to_mebibytes(resources.memory))
        return started(self.pool, self.platform, cpu, memory)

    def nodes(self, pods: int) -> int:
        """Nodes that so many pods of one unit each start."""
        return -(-pods // (self.pool.resources.get(self.device, 1) if self.device else 1))

    def rank(self, pods: int = 1) -> tuple[Decimal, Decimal, str]:
        """For sorting: what starting its nodes adds to the bill, its own part of a node's price, and its pool.

        A pod of a unit never pays for its part alone: the whole node runs because of it.
        """
        node = self.node(self.resources())
        return node.added(self.nodes(pods)), node.hourly * self.share, self.pool.name

    @property
    def mig(self) -> str | None:
        """MIG profile, if it is an instance."""
        return self.device.removeprefix(keys.MIG) if self.device and self.device.startswith(keys.MIG) else None

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

    def whole(self) -> Resources:
        """Requests of a pod on a whole node: all GPUs and network adapters."""
        smallest = min(allocatable(self.pool), key=lambda node: node.cpu_millis)
        cpu, memory = (part * _WHOLE_PERCENT // 100 for part in (smallest.cpu_millis, smallest.memory_mib))
        amounts = _written(cpu // 1000 * 1000 or cpu, memory // 1024 * 1024 or memory)
        efa = self.pool.resources.get(keys.EFA, 0)
        return Resources(cpu=amounts[0], memory=amounts[1], gpus=self.pool.resources.get(keys.GPU, 0), efa=efa)


def units(target: Target, platform: Platform) -> Iterator[Unit]:
    """One unit of every pool that the team has a share of: the smallest of its MIG instances."""
    shares = target.pools if target.shares is None else target.shares
    pools = [target.pools[name] for name in shares if name in target.pools]
    usable = [pool for pool in pools if pool.role is not Role.SYSTEM and not pool.waiting and pool.settings.max]
    for pool in usable:
        yield Unit(pool=pool, device=_device(pool), platform=platform)


def with_gpu(target: Target, platform: Platform, pods: int = 1) -> list[Unit]:
    """The units with a GPU: first those whose nodes, for so many pods, add least to the bill."""
    return sorted((each for each in units(target, platform) if each.device), key=lambda each: each.rank(pods))


def _device(pool: PoolSpec) -> str | None:
    names = [name for name in pool.resources if name.startswith(keys.NVIDIA)]
    return min(names, key=lambda name: (_weight(name), name), default=None)


def _weight(device: str) -> int:
    """Compute slices of a MIG instance; 1 for a GPU, which is never beside instances."""
    return int(device.removeprefix(keys.MIG).partition("g")[0]) if device.startswith(keys.MIG) else 1


def _share(pool: PoolSpec, device: str | None) -> Decimal:
    """Part of a node that one unit is; a CPU pool counts as one."""
    if device is None:
        return Decimal(1)
    whole = sum(_weight(name) * count for name, count in pool.resources.items() if name.startswith(keys.NVIDIA))
    return Decimal(_weight(device)) / whole


def _within(bounds: tuple[int, int], share: Decimal, nodes: list[int], largest: Callable[[list[int]], int]) -> int:
    """A part of the smallest node, raised to the lower bound as far as that part of another node allows."""
    low, high = bounds
    part, most = int(min(nodes) * share), int(largest(nodes) * share)
    return min(high, max(part, min(low, most)))


def _written(cpu: int, memory: int) -> tuple[str, str]:
    """Multiples of 0.1 vCPU and 256 MiB."""
    return quantity(CPU, max(100, cpu // 100 * 100)), format_mebibytes(max(256, memory // 256 * 256))


# What a quickstart starts and what that costs, as lines for its reader. Prices are those of the catalog alone.


def lines(attempt: Attempt, manifests: WorkloadManifests) -> Iterator[str]:
    """What a workload starts, its price an hour and a month, and the most that it may cost."""
    node = attempt.node
    if node is None:
        yield "Starts no GPU; a CPU node if none is free."
        return
    many = f"{attempt.nodes} nodes" if attempt.nodes > 1 else "1 node"
    kept = f" ({node.running} always run, paid for anyway)" if node.running else ""
    yield f"Starts {many} {node.kind} ({node.market}) of pool {attempt.pool}, unless one has room{kept}."
    if node.price is None:
        yield "Price: unknown, the catalog has none for it."
        return
    hourly = attempt.nodes * node.price.usual
    month = f"{usd(hourly * HOURS_PER_MONTH, 0)} USD a month if left on ({HOURS_PER_MONTH} h)"
    yield f"Price: {usd(hourly)} USD an hour{_range(node.price, attempt.nodes)}, {month}."
    what = "Spot discount" if node.market is Market.SPOT else "Price"
    yield f"{what} of {node.price.source.day}. A node is billed whole, whatever part of it is used."
    seconds = deadline(*(one.manifest for one in manifests.values()))
    if seconds is None:
        yield "It runs until you delete it."
    else:
        idle = f", and an empty node {node.idle_seconds // 60} min later" if node.idle_seconds else ""
        most = hourly * (seconds + node.idle_seconds) / HOUR
        yield f"It ends by itself after {hours(seconds)} at most{idle}: {usd(most)} USD."


def _range(price: Line, nodes: int) -> str:
    return f" ({usd(nodes * price.low)} to {usd(nodes * price.high)})" if price.low != price.high else ""

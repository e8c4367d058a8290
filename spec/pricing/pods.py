"""The nodes that a pool starts for pods: their type, their number, their price, and how long they may run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from spec.catalog import prices
from spec.pools import resolve_all
from spec.pools.allocatable import Amounts, allocatable, nodes_of
from spec.pools.keys import MIG, NVIDIA
from spec.pools.pool_spec import PoolSpec
from spec.pricing.model import Line, Pricer
from spec.pricing.pools import machines, running
from spec.quantities import CPU, MEMORY, MI, seconds
from spec.settings.capacity import Market
from spec.settings.platform import Platform

UNKNOWN: Final = Decimal("Infinity")


@dataclass(frozen=True, kw_only=True)
class StartedNode:
    """A node that a pool starts."""

    kind: str  # instance type
    market: Market  # purchase option
    running: int  # nodes that the pool always has, which cost the same with and without the workload
    idle_seconds: int  # how long Karpenter keeps it without pods; 0 on a managed group, whose autoscaler decides
    price: Line | None
    """Lowest, expected and highest price of the node, with source and date; None without a dated price."""

    @property
    def hourly(self) -> Decimal:
        """Expected price of the node in USD an hour; infinite if unknown."""
        return self.price.usual if self.price is not None else UNKNOWN

    def added(self, nodes: int = 1) -> Decimal:
        """What a workload on so many nodes adds to the bill, USD an hour."""
        more = max(0, nodes - self.running)
        return more * self.hourly if more else Decimal(0)


def started(spec: PoolSpec, platform: Platform, cpu_millis: int, memory_mib: int) -> StartedNode:
    """The node of a pool for a pod with these requests.

    Karpenter launches the lowest-priced type that fits the pending pods (karpenter.sh, "Concepts", "Scheduling"). EKS
    tries the types of an on-demand group in their order, and Spot ones by price and capacity (EKS User Guide, "Managed
    node groups").
    """
    pricer = Pricer(prices.book(platform.account.region))
    one = replace(running(spec, platform), minimum=Decimal(1), typical=Decimal(1), maximum=Decimal(1))
    fitting = {
        node.instance_type
        for node in allocatable(spec)
        if spec.managed or (node.cpu_millis >= cpu_millis and node.memory_mib >= memory_mib)
    }
    found, always = [], spec.settings.min + spec.settings.capacity_buffer
    idle = 0 if spec.managed else seconds(spec.settings.disruption.consolidate_after)
    for kind in spec.instance_types:
        if spec.managed or kind.name in fitting or not fitting:
            lines = machines(replace(spec, instance_types=(kind,)), one, pricer)
            price = next((line for line in lines if isinstance(line, Line)), None)
            found.append(
                StartedNode(kind=kind.name, market=spec.market, running=always, idle_seconds=idle, price=price)
            )
    if spec.managed and spec.market is not Market.SPOT:
        return found[0]
    return min(found, key=lambda node: (node.hourly, node.kind))


def device_prices(platform: Platform) -> dict[str, dict[str, int]]:
    """Expected price of each GPU resource of a pool, in thousandths of a USD an hour; without pools of unknown price.

    A MIG instance has the part of the node that its compute slices are of all that the layout has.
    """
    found = {}
    for name, spec in resolve_all(platform).items():
        node = started(spec, platform, 0, 0)
        slices = {one: count * _slices(one) for one, count in spec.resources.items() if one.startswith(NVIDIA)}
        if slices and node.price is not None:
            part = node.hourly * 1000 / sum(slices.values())
            found[name] = {one: round(part * _slices(one)) for one in sorted(slices)}
    return found


_JOB_HOURS: Final = 72  # three days: a tenth of a month, as of a budget


def job_usd(platform: Platform) -> dict[str, int]:
    """What one job of each team may cost, in USD: `jobUsd`, else a tenth of `budgetUsd`, else three days of all GPUs
    that the team may use at once, by expected prices. Not of a team without GPUs of a known price."""
    found, pools = {}, resolve_all(platform)
    nodes = {name: started(one, platform, 0, 0).hourly / one.gpu_count for name, one in pools.items() if one.gpu_count}
    for name, team in platform.teams.items():
        priced = {pool: share.maximum for pool, share in team.gpus.items() if nodes.get(pool, UNKNOWN) != UNKNOWN}
        most = sum(int(_JOB_HOURS * gpus * nodes[pool]) + 1 for pool, gpus in priced.items() if gpus)
        most = most if team.budget_usd is None else max(1, team.budget_usd // 10)
        if given := team.job_usd or most:
            found[name] = given
    return found


def _slices(resource: str) -> int:
    """Compute slices of a MIG instance, `nvidia.com/mig-2g.20gb`; 1 of a whole or shared GPU."""
    return int(resource.removeprefix(MIG).partition("g.")[0]) if resource.startswith(MIG) else 1


def nodes_for(spec: PoolSpec, platform: Platform, groups: Sequence[tuple[Amounts, int]]) -> tuple[StartedNode, int]:
    """The node that a pool starts for pods, and the number of such nodes that hold them, each node empty before. If the
    pool may not have so many, it is a node as large as the pods need on its maximum of nodes.

    Args:
        groups: What one pod requests (CPU in vCPUs, memory in bytes, devices), and number of pods that run at the same
            time, of each group.
    """
    asked = [[(wanted.get(name, Decimal(0)), pods) for wanted, pods in groups] for name in (CPU, MEMORY)]
    largest = [max(amount for amount, _ in each) for each in asked]
    even = [sum(amount * -(-pods // max(1, spec.settings.max)) for amount, pods in each) for each in asked]
    node, count = started(spec, platform, 0, 0), 0
    for cpu, memory in (largest, map(max, largest, even)):
        node = started(spec, platform, int(cpu * 1000), int(memory / MI))
        room = next((one for one in allocatable(spec) if one.instance_type == node.kind), allocatable(spec)[0])
        count = nodes_of(room, groups)
        if count <= spec.settings.max:
            break
    return node, count


# How long pods run, and the amounts as text.


HOUR: Final = 3600


def deadline(*manifests: Mapping[str, Any]) -> int | None:
    """The longest `activeDeadlineSeconds` anywhere in the objects, seconds; None without one."""
    return max((each for one in manifests for each in _deadlines(one)), default=None)


def _deadlines(value: Any) -> Iterator[int]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            if key == "activeDeadlineSeconds" and isinstance(below, int):
                yield below
            else:
                yield from _deadlines(below)
    elif isinstance(value, list):
        for below in value:
            yield from _deadlines(below)


def usd(amount: Decimal, places: int = 2) -> str:
    """`1,234.50`."""
    return f"{amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,}"


def hours(seconds: int) -> str:
    """`1.5 h`."""
    return f"{Decimal(seconds) / HOUR:.3g} h"

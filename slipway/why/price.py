"""What a workload costs before it exists: the nodes that its pods start, until its deadline."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from components.admission import kinds
from components.workloads.target import Target
from slipway.why import file
from slipway.why.bundle import Object
from slipway.why.runtimes import all_podsets
from spec.catalog.prices import HOURS_PER_MONTH
from spec.pools.allocatable import Amounts
from spec.pricing.pods import HOUR, deadline, hours, nodes_for, usd
from spec.settings import Platform


@dataclass(frozen=True, kw_only=True)
class Bound:
    """The most that a workload adds to the bill, if no node has room for its pods."""

    nodes: tuple[str, ...]  # number and type of the nodes of each group of pods, with their pool
    hourly: Decimal  # USD an hour while all its pods run
    seconds: int | None  # longest time that it runs, all attempts together; None without a deadline
    idle_seconds: int  # how long an empty node is kept afterwards
    day: str  # date of the oldest price

    @property
    def most(self) -> Decimal | None:
        """USD until its deadline and the end of its nodes; None without a deadline."""
        return None if self.seconds is None else self.hourly * (self.seconds + self.idle_seconds) / HOUR

    @property
    def numbers(self) -> dict[str, str]:
        """Its amounts in USD, by name."""
        most = {} if self.most is None else {"usdAtMost": usd(self.most)}
        return {"usdPerHour": usd(self.hourly), **most}

    @property
    def text(self) -> str:
        """One sentence."""
        hourly = f"{' and '.join(self.nodes)}: {usd(self.hourly)} USD an hour (prices of {self.day})"
        if self.most is None or self.seconds is None:
            return f"{hourly}, {usd(self.hourly * HOURS_PER_MONTH, 0)} a month; it has no deadline"
        idle = f" and {self.idle_seconds // 60} min of an empty node" if self.idle_seconds else ""
        return f"{hourly}, at most {usd(self.most)} USD for {hours(self.seconds)}{idle}"


def bound(manifest: Object, target: Target, platform: Platform, others: Sequence[Object] = ()) -> Bound | None:
    """What an object costs at most; None if it starts no pods, fits no pool, or a price is unknown.

    Of the pools that a pod set may use it takes the one whose nodes cost most: Kueue and the scheduler choose among
    them by what is free. A node is counted whole, because it runs for the pods, and is shared if there is room.
    """
    by_pool = dict[str, list[tuple[Amounts, int]]]()
    for one in file.sets_of(manifest, all_podsets(manifest, target, others), target):
        wanted = [(one.wanted, one.count)]
        nodes = [(nodes_for(pool, platform, wanted), name) for name, pool in one.pools.items()]
        _, dearest = max(((node.hourly * count, name) for (node, count), name in nodes), default=(None, None))
        if dearest is None:
            return None
        by_pool.setdefault(dearest, []).extend(wanted)
    found = [(*nodes_for(target.pools[pool], platform, groups), pool) for pool, groups in by_pool.items()]
    if not found or not all(node.price for node, _, _ in found):
        return None
    return Bound(
        nodes=tuple(f"{count} x {node.kind} ({node.market}) of pool {pool}" for node, count, pool in found),
        hourly=sum((node.hourly * count for node, count, _ in found), Decimal(0)),
        seconds=_longest(manifest),
        idle_seconds=max(node.idle_seconds for node, _, _ in found),
        day=str(min(node.price.source.day for node, _, _ in found if node.price)),
    )


def _longest(manifest: Object) -> int | None:
    """The deadline, times the attempts of kinds that count it for each attempt (`components.admission.jobs`)."""
    spec = manifest.get("spec") or {}
    longest = deadline(spec)
    if longest is None:
        return None
    attempts = 1
    if manifest.get("kind") == kinds.RAY_JOB.kind:
        attempts += int(spec.get("backoffLimit") or 0)
    elif manifest.get("kind") == kinds.JOB_SET.kind:
        attempts += int((spec.get("failurePolicy") or {}).get("maxRestarts") or 0)
    return longest * attempts

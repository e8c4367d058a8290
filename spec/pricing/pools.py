"""Cost of the pools: machines, volumes, monitoring; and the hours in which their schedules let them run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Final

from spec.catalog import prices
from spec.catalog.document import Source
from spec.catalog.instances import InstanceType
from spec.pools.pool_spec import GP3_IOPS, GP3_MIBPS, PoolSpec, volumes
from spec.pricing import services
from spec.pricing.model import Item, Line, Pricer, Unpriced, exact
from spec.settings.capacity import Market
from spec.settings.cost import PoolUse, Schedule
from spec.settings.platform import Platform

METRICS: Final = 7
"""Billed metrics of an instance with detailed monitoring (aws.amazon.com/cloudwatch/pricing, example 1)."""


@dataclass(frozen=True, kw_only=True)
class Running:
    """Number of running nodes of a pool."""

    minimum: Decimal  # minimum, on average over a week
    typical: Decimal  # average, as declared
    maximum: Decimal  # maximum at any time
    declared: bool = False  # whether its use is declared
    use: PoolUse | None = None  # declared use, if any
    spot: Decimal | None = None  # average Spot discount, as a share; None for the middle of the catalog's range


def running(spec: PoolSpec, platform: Platform | None = None) -> Running:
    """Number of running nodes; without a platform, from the pool's own settings."""
    high, buffer = spec.settings.max, spec.settings.capacity_buffer
    low = min(high, spec.settings.min + buffer)
    if platform is None:
        return Running(minimum=Decimal(low), typical=Decimal(low), maximum=Decimal(high))
    usage = platform.cost.usage
    on = share_on(spec.name, platform.cost.schedules)
    use = usage.pools.get(spec.name)
    minimum = to_decimal(on * low)
    percent = usage.spot_discount_percent
    return Running(
        minimum=minimum,
        typical=minimum if use is None else min(Decimal(high), average(spec.settings.min, use, on) + buffer),
        maximum=Decimal(high),
        declared=use is not None,
        use=use,
        spot=None if percent is None else Decimal(percent) / 100,
    )


def machines(spec: PoolSpec, nodes: Running | None = None, pricer: Pricer | None = None) -> Iterator[Item]:
    """Nodes of a pool: of the lowest-priced type, of the type that mostly runs, of the most expensive type.

    Managed groups and NodePools may run any of their types: the floor has the lowest price, the ceiling the highest.
    """
    nodes, pricer = nodes or running(spec), pricer or Pricer(prices.HERE)
    book = pricer.book
    what = f"pool {spec.name}"
    contract = nodes.use.usd_per_node_hour if nodes.use else None
    if contract is not None:
        yield _by_contract(spec, nodes, exact(contract), pricer.day)
        return
    if spec.capacity_block:
        why = f"{prices.UNPRICED['capacity-block']}; declare cost.usage.pools.{spec.name}.usdPerNodeHour"
        yield Unpriced(f"{what}: {spec.settings.max} nodes of a Capacity Block", why)
        return
    if spec.market is Market.RESERVED:
        why = "a Capacity Reservation is billed in full, used or not, and its size is not in the settings"
        yield Unpriced(f"{what}: reserved nodes that do not run", why)
    known = {kind: price for kind in spec.instance_types if (price := book.instance(kind.name)) is not None}
    for kind in spec.instance_types:
        if kind not in known:
            yield Unpriced(f"{what}: up to {spec.settings.max} nodes of {kind.name}", "no dated on-demand price found")
    if known:
        # A pool with a type of unknown price may run only that type: its other types give no floor.
        minimum = nodes.minimum if len(known) == len(spec.instance_types) else Decimal(0)
        yield _nodes(spec, nodes, known, minimum, book)


def node_hourly(spec: PoolSpec) -> Decimal | None:
    """Highest price of one node in USD an hour; None if the catalog has none."""
    one = Running(minimum=Decimal(1), typical=Decimal(1), maximum=Decimal(1))
    return max((item.high for item in machines(spec, one) if isinstance(item, Line)), default=None)


def storage(spec: PoolSpec, nodes: Running | None = None, pricer: Pricer | None = None) -> Iterator[Item]:
    """Root volumes of a pool: size, and IOPS and throughput beyond those that gp3 includes."""
    nodes, pricer = nodes or running(spec), pricer or Pricer(prices.HERE)
    of_node = volumes(spec)
    amounts = {
        "ebs-gp3": (sum(volume.size_gib for volume in of_node), "GB", "volumes of nodes"),
        "ebs-gp3-iops": (sum(max(0, volume.iops - GP3_IOPS) for volume in of_node), "IOPS", "IOPS above 3000"),
        "ebs-gp3-throughput": (
            sum(max(0, volume.throughput_mibps - GP3_MIBPS) for volume in of_node),
            "MiB/s",
            "throughput above 125 MiB/s",
        ),
    }
    for name, (amount, unit, item) in amounts.items():
        if amount:
            note = f"{amount} {unit} a node"
            yield _with_nodes(
                pricer.line(services.EBS, item, name, unit, minimum=amount, pool=spec.name, note=note), nodes
            )


def metrics(spec: PoolSpec, nodes: Running, pricer: Pricer) -> Iterator[Item]:
    """Detailed monitoring, which GPU nodes have."""
    if spec.gpu is not None:
        item, name = "detailed monitoring of nodes", "cloudwatch-metric"
        per_node = pricer.line(services.CLOUDWATCH, item, name, "metric", minimum=METRICS, pool=spec.name)
        yield _with_nodes(per_node, nodes)


def of_fallback(spec: PoolSpec, pricer: Pricer) -> Iterator[Item]:
    """Nodes of a fallback: none at the floor and as expected, all at the ceiling."""
    nodes = Running(minimum=Decimal(0), typical=Decimal(0), maximum=Decimal(spec.settings.max))
    name = spec.name.removeprefix(f"{spec.pool}-")
    for item in (*machines(spec, nodes, pricer), *storage(spec, nodes, pricer), *metrics(spec, nodes, pricer)):
        if isinstance(item, Line):
            yield replace(item, item=f"{item.item}, fallback {name}", pool=spec.pool)
        else:
            yield item


def _with_nodes(item: Item, nodes: Running) -> Item:
    """An item of every node, times the running nodes."""
    if not isinstance(item, Line):
        return item
    each = item.minimum
    return replace(item, minimum=each * nodes.minimum, typical=each * nodes.typical, maximum=each * nodes.maximum)


def _by_contract(spec: PoolSpec, nodes: Running, hourly: Decimal, day: date) -> Line:
    # A Capacity Block is billed whether its nodes run or not.
    count = nodes.maximum if spec.capacity_block else None
    return Line(
        service=services.EC2,
        item="nodes",
        pool=spec.name,
        unit="node",
        minimum=count or nodes.minimum,
        typical=count or nodes.typical,
        maximum=nodes.maximum,
        low=hourly,
        usual=hourly,
        high=hourly,
        source=Source(f"cost.usage.pools.{spec.name}.usdPerNodeHour of the stack file", day),
        note=f"{spec.market}, {spec.instance_types[0].name}, at your own contract's price",
    )


def _nodes(
    spec: PoolSpec, nodes: Running, known: dict[InstanceType, prices.Price], minimum: Decimal, book: prices.Book
) -> Line:
    ranges = {kind: _range(price.usd, spec.market, nodes, book) for kind, price in known.items()}
    usual = _mostly(spec, nodes, known)
    spot = spec.market is Market.SPOT
    note = f"{spec.market}, {_named(known)}"
    return Line(
        service=services.EC2,
        item="nodes",
        pool=spec.name,
        unit="node",
        minimum=minimum,
        typical=max(nodes.typical, minimum),
        maximum=nodes.maximum,
        low=min(low for low, _, _ in ranges.values()),
        usual=ranges[usual][1],
        high=max(high for _, _, high in ranges.values()),
        source=book.spot.source if spot else known[usual].source,
        note=note if nodes.declared or not spec.scales else f"{note}; no use declared: expected at its minimum",
    )


def _mostly(spec: PoolSpec, nodes: Running, known: dict[InstanceType, prices.Price]) -> InstanceType:
    """The type that mostly runs: the declared one; else the first of an on-demand managed group, because EKS tries
    types in that order; else the lowest-priced, which Karpenter prefers if the pods fit."""
    declared = nodes.use.instance_type if nodes.use else None
    for kind in known:
        if kind.name == declared:
            return kind
    if spec.managed and spec.market is Market.ON_DEMAND:
        return next(iter(known))
    return min(known, key=lambda kind: (known[kind].usd, kind.name))


def _range(on_demand: Decimal, market: Market, nodes: Running, book: prices.Book) -> tuple[Decimal, Decimal, Decimal]:
    if market is not Market.SPOT:
        return on_demand, on_demand, on_demand
    # The discount of a type is that of one day; its price moves within the range of all types.
    low, high = book.spot.low, book.spot.high
    usual = (low + high) / 2 if nodes.spot is None else nodes.spot
    return on_demand * (1 - max(high, usual)), on_demand * (1 - usual), on_demand * (1 - min(low, usual))


def _named(known: dict[InstanceType, prices.Price]) -> str:
    by_price: Sequence[InstanceType] = sorted(known, key=lambda kind: (known[kind].usd, kind.name))
    cheapest, most_expensive = by_price[0].name, by_price[-1].name
    return cheapest if cheapest == most_expensive else f"{cheapest} to {most_expensive}"


WEEK: Final = 168
_DAY: Final = 24 * 60
_FIRST: Final = date(2026, 1, 5)  # a Monday; the 364 days from it are 52 whole weeks
_DAYS: Final = 364
_WORDS: Final[Mapping[str, int]] = {
    **{name: at for at, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"))},
    **{
        name: at
        for at, name in enumerate(
            ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"), start=1
        )
    },
}


def share_on(pool: str, schedules: Mapping[str, Schedule]) -> Fraction:
    """Part of the time in which no schedule stops a pool."""
    return next(
        (_share(each.stop, each.start) for each in schedules.values() if pool in each.pools and each.start), Fraction(1)
    )


def average(minimum: int, use: PoolUse, on: Fraction) -> Decimal:
    """Average number of nodes over a week.

    Args:
        on: Part of the time in which no schedule stops it.
    """
    running = on * WEEK
    wanted = 5 * Fraction(str(use.hours_per_weekday)) + 2 * Fraction(str(use.hours_per_weekend_day))
    used = min(wanted, running)
    nodes = (Fraction(str(use.nodes)) * used + minimum * (running - used)) / WEEK
    return to_decimal(nodes)


def to_decimal(part: Fraction) -> Decimal:
    """A fraction as a decimal of 28 digits."""
    return Decimal(part.numerator) / Decimal(part.denominator)


@cache
def _share(stop: str, start: str) -> Fraction:
    """Part of a year between a start and the next stop."""
    # If both are in the same minute, the start applies, because it is sorted after the stop.
    events = sorted([(minute, 0) for minute in _minutes(stop)] + [(minute, 1) for minute in _minutes(start)])
    if not events:
        return Fraction(1)
    around = [*events, (events[0][0] + _DAYS * _DAY, events[0][1])]
    running = sum(later - earlier for (earlier, on), (later, _) in pairwise(around) if on)
    return Fraction(running, _DAYS * _DAY)


def _minutes(expression: str) -> Iterator[int]:
    minutes, hours, days, months, weekdays = (_values(part, at) for at, part in enumerate(expression.split()))
    either = expression.split()[2] != "*" and expression.split()[4] != "*"
    for day in range(_DAYS):
        when = _FIRST + timedelta(days=day)
        in_month, in_week = when.day in days, when.isoweekday() % 7 in weekdays
        # With both fields set, cron matches either (crontab(5)).
        if when.month in months and ((in_month or in_week) if either else (in_month and in_week)):
            yield from (day * _DAY + hour * 60 + minute for hour in hours for minute in minutes)


_BOUNDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


def _values(text: str, at: int) -> frozenset[int]:
    low, high = _BOUNDS[at]
    values: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        start = low if first == "*" else _number(first)
        end = high if first == "*" or (step and not last) else _number(last or first)
        values.update(range(start, end + 1, int(step or 1)))
    return frozenset(values)


def _number(text: str) -> int:
    return _WORDS[text.upper()] if text.upper() in _WORDS else int(text)

"""What would make large pools cost less, and is no setting alone: a commitment, a smaller node.

Prices are those of the catalog. It has none of Savings Plans and reservations, so no discount is assumed.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from slipway.report.advice import Lever
from slipway.report.page import cents, counted, usd
from spec.catalog import instances, prices
from spec.catalog.prices import HOURS_PER_MONTH
from spec.pools.pool_spec import PoolSpec
from spec.pricing import Estimate, Line, services
from spec.settings.capacity import Market
from spec.settings.platform import Platform
from spec.settings.pools import Role

_SHARE: Final = Decimal("0.05")  # part of the expected cost from which a pool is looked at
_CHEAPER: Final = Decimal("0.5")  # part of the price at which a smaller node is worth a pool of its own
_GIB: Final = 1024
_MEMORY: Final = re.compile(r"\.(\d+)gb")  # memory in the name of a MIG profile: 1g.5gb


def levers(platform: Platform, specs: Mapping[str, PoolSpec], bill: Estimate) -> tuple[Lever, ...]:
    """What to weigh for each pool of on-demand nodes at list prices, the largest first."""
    lines = [
        line
        for line in bill.lines
        if line.service == services.EC2 and line.item == "nodes" and line.expected >= _SHARE * bill.expected
    ]
    found: list[Lever] = []
    for line in sorted(lines, key=lambda line: -line.expected):
        spec = specs[line.pool or ""]
        if spec.market is Market.ON_DEMAND and not line.source.text.startswith("cost.usage."):
            found += [*_commitment(platform, spec, line), *_smaller(platform, spec, line)]
    return tuple(found)


def _commitment(platform: Platform, spec: PoolSpec, line: Line) -> Iterator[Lever]:
    listed = f"list price {cents(line.usual)} an hour, {line.source.day}"
    steady = int(line.minimum)
    if steady:
        month = steady * line.usual * HOURS_PER_MONTH
        yield Lever(
            what=f"commit to {counted(steady, 'node')} of {spec.name}",
            why=f"{'they run' if steady > 1 else 'it runs'} in every hour, {usd(month)} a month ({listed}). A Savings "
            f"Plan or reservation saves {usd(month / 100)} for each percent below that; then enter its price as "
            f"cost.usage.pools.{spec.name}.usdPerNodeHour",
        )
    elif line.typical:
        use = platform.cost.usage.pools.get(spec.name)
        share = line.typical / max(Decimal(1), Decimal(str(use.nodes)) if use else Decimal(1))
        yield Lever(
            what=f"no commitment for {spec.name}",
            why=f"a node of it runs in {share:.0%} of the hours, so a Savings Plan or reservation pays only below "
            f"{cents(share * line.usual)} an hour ({listed})",
        )


def _smaller(platform: Platform, spec: PoolSpec, line: Line) -> Iterator[Lever]:
    """A node with one GPU that has the memory of the pool's unit, where jobs don't span nodes."""
    gpu, book = spec.instance_types[0], prices.book(platform.account.region)
    if not gpu.gpus or spec.role is Role.TRAINING or spec.efa_count:
        return
    names = [match[1] for profile in (spec.mig.profiles if spec.mig else ()) if (match := _MEMORY.search(profile))]
    needed = max(map(int, names)) * _GIB if names else gpu.gpu_memory_mib
    fitting = [
        (price.usd, kind)
        for kind in instances.ALL.values()
        if kind.gpus == 1
        and kind.arch == gpu.arch
        and kind.gpu_memory_mib >= needed
        and kind.offered_in(platform.account.region) is not False
        and (price := book.instance(kind.name)) is not None
    ]
    usd_per_hour, kind = min(fitting, key=lambda one: (one[0], one[1].name), default=(line.usual, gpu))
    if usd_per_hour <= _CHEAPER * line.usual:
        saved = line.typical * (line.usual - usd_per_hour) * HOURS_PER_MONTH
        unit = f"a {max(spec.mig.profiles)} of it" if names and spec.mig else "one of its GPUs"
        yield Lever(
            what=f"a pool of {kind.name} beside {spec.name}",
            why=f"what needs no more than {unit} fits its {kind.gpu_name} ({kind.gpu_memory_mib // _GIB} GiB) at "
            f"{cents(usd_per_hour)} an hour instead of {cents(line.usual)}: up to {usd(saved)} a month less, if one "
            "node at a time is enough",
        )

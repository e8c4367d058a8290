"""The monthly cost of the stack, what costs most, and which valid changes of the settings cost less."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from pulumi_policy import EnforcementLevel

from policies.rule import environment
from policies.rules import BY_NAME
from slipway.cost import Difference
from slipway.report.advice import CostShare, PriceSource, Saving
from slipway.report.model import Bar, Bill
from spec.catalog import kubernetes
from spec.catalog.prices import HOURS_PER_MONTH
from spec.catalog.quotas import VCPUS, vcpu_key
from spec.pricing import Amounts, Estimate, Line, estimate
from spec.settings import ConfigurationError, load
from spec.settings.capacity import Market
from spec.settings.load import edited
from spec.settings.network import Nat
from spec.settings.platform import Platform
from spec.settings.pools import Provisioner, Role

# The monthly cost of the stack, by pool, team and service.


MOVERS: Final = 6  # number of lines of a cost difference that are shown
_NONE: Final[Mapping[str, str]] = {"pool": "no pool", "team": "platform (no team)"}


def bill(platform: Platform, estimate: Estimate, change: Difference | None, problem: str = "") -> Bill:
    """The bill of an estimate, with the cost difference of a change."""
    return Bill(
        total=estimate.amounts.month,
        by={
            "pool": _bars(estimate.by_pool(), "pool"),
            "team": _bars(estimate.by_team(), "team"),
            "service": _bars(estimate.by_service(), "service"),
        },
        bounds=tuple(_bounds(platform)),
        delta=None if change is None else change.amounts.month,
        movers=() if change is None else _movers(change),
        delta_problem=problem,
        sources=price_sources(estimate),
        unpriced=len(estimate.unpriced),
    )


def _bars(groups: Mapping[str, Amounts] | Mapping[str | None, Amounts], by: str) -> tuple[Bar, ...]:
    return tuple(
        Bar(name=_NONE.get(by, "") if name is None else name, amounts=amounts.month) for name, amounts in groups.items()
    )


def _bounds(platform: Platform) -> list[tuple[str, Decimal]]:
    cost = platform.cost
    bounds = [
        ("Monthly budget", None if cost.monthly_budget_usd is None else Decimal(cost.monthly_budget_usd)),
        ("Floor limit", _monthly(cost.limits.floor_usd_per_hour)),
        ("Ceiling limit", _monthly(cost.limits.ceiling_usd_per_hour)),
    ]
    return [(name, amount) for name, amount in bounds if amount is not None]


def _monthly(hourly: float | None) -> Decimal | None:
    return None if hourly is None else Decimal(str(hourly)) * HOURS_PER_MONTH


def _movers(change: Difference) -> tuple[Bar, ...]:
    named = []
    for one in change.changes[:MOVERS]:
        pool = f"pool {one.line.pool}: " if one.line.pool else ""
        named.append(Bar(name=f"{pool}{one.line.service}, {one.line.item}", amounts=one.amounts.month))
    return tuple(named)


# What costs most, and which valid changes of the settings cost less. Each change is priced as the stack itself is.


SHOWN: Final = 5


def largest(bill: Estimate) -> tuple[CostShare, ...]:
    """The items with the largest expected cost."""
    total = bill.expected
    lines = sorted(bill.lines, key=lambda line: (-line.expected, line.key))[:SHOWN]
    return tuple(_share(line, total) for line in lines if line.expected)


def _share(line: Line, total: Decimal) -> CostShare:
    pool = f"pool {line.pool}: " if line.pool else ""
    return CostShare(
        name=f"{pool}{line.service}, {line.item}",
        expected=line.expected * HOURS_PER_MONTH,
        percent=float(100 * line.expected / total),
        unit=line.unit,
        units=line.typical,
        each=line.usual * HOURS_PER_MONTH,
    )


def savings(platform: Platform, data: Mapping[str, Any], bill: Estimate, stack: str, today: date) -> tuple[Saving, ...]:
    """Changes of the stack file that cost less and pass every check, those that save most first.

    What the mandatory policies on Spot, quotas of EC2 and NAT gateways refuse is left out; others are not evaluated.
    """
    found = []
    for change in _changes(platform, stack, today):
        try:
            changed = load(edited(data, {change.path: change.value}), stack=stack, today=today)
        except ConfigurationError:
            continue
        saved = (bill.amounts - estimate(changed.platform, today).amounts).month
        if saved.expected >= 1:
            found.append(Saving(setting=change.setting, what=change.what, price=change.price, saved=saved))
    found.sort(key=lambda one: (-one.saved.expected, -one.saved.floor, one.setting))
    return tuple(found[:SHOWN])


def price_sources(bill: Estimate) -> tuple[PriceSource, ...]:
    """Where the prices come from, the largest part of the expected cost first."""
    groups: dict[tuple[str, str, date], list[Line]] = {}
    for line in bill.lines:
        groups.setdefault((_kind(line), line.source.text, line.source.day), []).append(line)
    total = bill.expected
    rows = []
    for (kind, text, day), lines in groups.items():
        expected = sum((line.expected for line in lines), Decimal(0))
        percent = float(100 * expected / total) if total else 0.0
        amount = expected * HOURS_PER_MONTH
        rows.append(PriceSource(kind=kind, text=text, day=day, items=len(lines), expected=amount, percent=percent))
    return tuple(sorted(rows, key=lambda row: (-row.expected, row.kind, row.text)))


def _kind(line: Line) -> str:
    """`declared` in the settings, `spot` as a range below on-demand, or `list`."""
    if line.source.text.startswith("cost.usage."):
        return "declared"
    return "spot" if line.low != line.high and line.note.startswith("spot") else "list"


@dataclass(frozen=True)
class _Change:
    """A value at a path of the stack file, what it does, and what it costs otherwise."""

    path: tuple[str, ...]
    value: Any
    what: str
    price: str

    @property
    def setting(self) -> str:
        """The change as a user writes it."""
        return f"{'.'.join(self.path)}: {json.dumps(self.value) if isinstance(self.value, dict) else self.value}"


def _demanded(rule: str, setting: str, stack: str) -> Any:
    """A setting of a rule that is mandatory for a stack; None if the rule is not."""
    stage, found = environment(stack), BY_NAME[rule]
    return found.defaults(stage)[setting] if found.levels.of(stage) is EnforcementLevel.MANDATORY else None


def _changes(platform: Platform, stack: str, today: date) -> Iterator[_Change]:
    without_spot = _demanded("no-spot-prod-inference", "roles", stack) or ()
    # Spot has quotas of its own, of which an account may have none yet.
    vcpus = _demanded("service-quota-headroom", "vcpus", stack) or VCPUS
    for name, pool in sorted(platform.pools.items()):
        if pool.role is Role.SYSTEM:
            continue
        path = ("pools", name)
        if pool.min and not pool.capacity.reservation:
            price = "the first job waits for a node, several minutes"
            yield _Change((*path, "min"), 0, f"scale {name} from zero", price)
        if (
            pool.capacity.market is Market.ON_DEMAND
            and pool.role not in without_spot
            and all(vcpu_key(kind, spot=True) in vcpus for kind in pool.instance_types)
        ):
            price = "AWS can reclaim a node with two minutes' notice: use checkpoints"
            yield _Change((*path, "capacity", "market"), "spot", f"run {name} on Spot", price)
        if pool.provisioner is Provisioner.MANAGED and not any(
            name in schedule.pools for schedule in platform.cost.schedules.values()
        ):
            nights = {"stop": "0 20 * * MON-FRI", "start": "0 7 * * MON-FRI", "pools": [name]}
            price = "jobs that run at 20:00 are evicted"
            what = f"shut {name} down at night and on weekends"
            yield _Change(("cost", "schedules", f"{name}-nights"), nights, what, price)
    if platform.network.nat is Nat.PER_ZONE and _demanded("vpc-shape", "nat", stack) != Nat.PER_ZONE:
        price = "if its zone fails, no private subnet reaches the internet; traffic crosses zones"
        yield _Change(("network", "nat"), "single", "share one NAT gateway", price)
    version = platform.cluster.version
    if kubernetes.support(version, today) == "extended":
        price = "nodes and add-ons are updated too"
        yield _Change(("cluster", "version"), kubernetes.next_minor(version), "leave extended support", price)

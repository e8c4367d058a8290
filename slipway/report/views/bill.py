"""The monthly cost of the stack, by pool, team and service."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from slipway.cost import Difference
from slipway.report.model import Bar, Bill
from slipway.report.views.savings import price_sources
from spec.catalog.prices import HOURS_PER_MONTH
from spec.pricing import Amounts, Estimate
from spec.settings.platform import Platform

MOVERS: Final = 6
"""Number of lines of a cost difference that are shown."""
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

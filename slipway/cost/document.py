"""Estimates and differences as JSON; amounts are text, so that they stay exact decimals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.cost.difference import Change, Difference
from slipway.cost.table import money
from spec.pricing.model import Amounts, Estimate, Line, Unpriced


def of_estimate(estimate: Estimate) -> dict[str, Any]:
    """An estimate as plain values; keys in camel case, as in the stack files."""
    return {
        "region": estimate.region,
        "usdPerHour": amounts(estimate.amounts),
        "usdPerMonth": monthly(estimate.amounts),
        "byService": _groups(estimate.by_service()),
        "byPool": _groups(estimate.by_pool()),
        "byTeam": _groups(estimate.by_team()),
        "lines": [_line(line) for line in estimate.lines],
        "unpriced": _unpriced(estimate.unpriced),
    }


def of_difference(result: Difference, name: str) -> dict[str, Any]:
    """A difference as plain values; `name` is the name of the baseline."""
    return {
        "against": name,
        "usdPerMonth": monthly(result.amounts),
        "before": monthly(result.before.amounts),
        "after": monthly(result.after.amounts),
        "changes": [_change(change) for change in result.changes],
        "nowUnpriced": _unpriced(result.new),
        "noLongerUnpriced": _unpriced(result.gone),
    }


def amounts(of: Amounts, digits: str = "0.000001") -> dict[str, str]:
    """Floor, expected cost and ceiling as text, to a millionth of a dollar."""
    three = {"floor": of.floor, "expected": of.expected, "ceiling": of.ceiling}
    return {name: money(amount, digits).replace(",", "") for name, amount in three.items()}


def monthly(of: Amounts) -> dict[str, str]:
    """Floor, expected cost and ceiling of a month, to the cent."""
    return amounts(of.month, "0.01")


def _groups(groups: Mapping[str | None, Amounts] | Mapping[str, Amounts]) -> list[dict[str, Any]]:
    return [{"name": name, "usdPerMonth": monthly(of)} for name, of in groups.items()]


def _unpriced(items: tuple[Unpriced, ...]) -> list[dict[str, str]]:
    return [{"what": item.what, "why": item.why} for item in items]


def _line(line: Line) -> dict[str, Any]:
    return {
        "service": line.service,
        "pool": line.pool,
        "item": line.item,
        "unit": line.unit,
        "units": {"minimum": str(line.minimum), "typical": str(line.typical), "maximum": str(line.maximum)},
        "usdPerHour": amounts(line.amounts),
        "shares": {team: f"{part.numerator}/{part.denominator}" for team, part in line.shares},
        "source": {"text": line.source.text, "date": line.source.day.isoformat()},
        "note": line.note,
    }


def _change(change: Change) -> dict[str, Any]:
    line = change.line
    return {
        "service": line.service,
        "pool": line.pool,
        "item": line.item,
        "note": line.note,
        "usdPerMonth": monthly(change.amounts),
    }

"""What tests of bills ask of an estimate."""

from __future__ import annotations

from decimal import Decimal

from spec.catalog import instances
from spec.pricing import Estimate, Line


def line(found: Estimate, service: str, item: str, pool: str | None = None) -> Line:
    """The one line of that name."""
    (one,) = (each for each in found.lines if (each.service, each.pool, each.item) == (service, pool, item))
    return one


def unpriced(found: Estimate) -> str:
    """What has no price, as text."""
    return "\n".join(f"{item.what}: {item.why}" for item in found.unpriced)


def usd(name: str) -> Decimal:
    """On-demand price of a type for an hour."""
    price = instances.get(name).usd_per_hour
    assert price is not None
    return price

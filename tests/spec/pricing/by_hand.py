"""Parts of an estimate that the tests look up."""

from decimal import Decimal

from spec.catalog import instances
from spec.pricing import Estimate, Line


def line(of_stack: Estimate, service: str, item: str, pool: str | None = None) -> Line:
    """The one line with that key."""
    (one,) = (each for each in of_stack.lines if (each.service, each.pool, each.item) == (service, pool, item))
    return one


def unpriced(of_stack: Estimate) -> str:
    """Unpriced items, as text."""
    return "\n".join(f"{item.what}: {item.why}" for item in of_stack.unpriced)


def usd(name: str) -> Decimal:
    """On-demand price of a type for an hour."""
    price = instances.get(name).usd_per_hour
    assert price is not None
    return price

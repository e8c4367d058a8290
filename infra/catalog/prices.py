"""Prices of what a stack pays for besides instances, in USD; those of instances are with their types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from infra.catalog.document import Source, load, source

HOURS_PER_MONTH: Final = Decimal(730)
"""Hours of a month in AWS's own calculators (365 days of 24 hours, over 12)."""


@dataclass(frozen=True)
class Price:
    """What one unit costs on-demand in `REGION`."""

    usd: Decimal
    unit: str
    """`hour`, `zone-hour`, `month`, `GB`, `GB-month`, `IOPS-month` or `MiBps-month`."""
    source: Source

    @property
    def monthly(self) -> Decimal:
        """Price of one unit for a month; what is billed by the GB is as it is."""
        return self.usd * HOURS_PER_MONTH if self.unit.endswith("hour") else self.usd


@dataclass(frozen=True)
class SpotDiscount:
    """Share of the on-demand price that Spot saves: a range, because the price moves."""

    low: Decimal
    high: Decimal
    types: Mapping[str, Decimal]
    """What the source lists, by instance type."""
    source: Source


_DOCUMENT: Final = load("prices.yaml")
REGION: Final[str] = _DOCUMENT["region"]
"""The one region whose prices these are."""
PRICES: Final[Mapping[str, Price]] = MappingProxyType(
    {name: Price(Decimal(e["usd"]), e["unit"], source(e)) for name, e in _DOCUMENT["prices"].items()}
)
"""Prices by what they are for."""
UNPRICED: Final[Mapping[str, str]] = MappingProxyType(_DOCUMENT["unpriced"])
"""What has no dated price, and why: to be shown as unpriced, never as zero."""
SPOT: Final = SpotDiscount(
    low=Decimal(_DOCUMENT["spot"]["low"]),
    high=Decimal(_DOCUMENT["spot"]["high"]),
    types=MappingProxyType({name: Decimal(share) for name, share in _DOCUMENT["spot"]["types"].items()}),
    source=source(_DOCUMENT["spot"]),
)


def get(name: str) -> Price:
    """Return the price of that name; a KeyError says why there is none."""
    if name not in PRICES:
        reason = UNPRICED.get(name, f"it has {', '.join(PRICES)}")
        message = f"the catalog has no price for {name!r}: {reason}"
        raise KeyError(message)
    return PRICES[name]

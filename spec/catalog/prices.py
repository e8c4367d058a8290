"""Prices of everything that a stack pays for except instances, in USD; prices of instances are with their types.

One file per region: `prices.yaml` is `REGION`'s and maintained by hand with a source for each price; `slipway catalog
prices` writes the others, `prices-<region>.yaml`, from AWS's own price list.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from spec.catalog import instances
from spec.catalog.document import Source, load, source

HOURS_PER_MONTH: Final = Decimal(730)  # hours of a month in AWS's calculators (365 days of 24 hours, over 12)
ON_DEMAND_SOURCE: Final = next(each for each in instances.SOURCES if "karpenter" in each.text.lower())
"""Source of the on-demand prices that are with the instance types."""


@dataclass(frozen=True)
class Price:
    """On-demand price of one unit."""

    usd: Decimal
    unit: str  # `hour`, `zone-hour`, `LCU-hour`, `month`, `GB`, `GB-month`, `request`, `IOPS-month`, `MiBps-month`
    source: Source
    per: int = 1  # number of units of the price: a million requests

    @property
    def monthly(self) -> Decimal:
        """Price of one unit for a month; a price per GB stays as it is."""
        return self.usd / self.per * (HOURS_PER_MONTH if self.unit.endswith("hour") else 1)

    @property
    def hourly(self) -> Decimal:
        """Price of one unit for an hour; for billing by use, of one unit a month."""
        return self.usd / self.per / (1 if self.unit.endswith("hour") else HOURS_PER_MONTH)

    @property
    def text(self) -> str:
        """`0.045 USD a GB`, `0.40 USD for 1,000,000 requests`."""
        return f"{self.usd:f} USD a {self.unit}" if self.per == 1 else f"{self.usd:f} USD for {self.per:,} {self.unit}s"


@dataclass(frozen=True)
class SpotDiscount:
    """Share of the on-demand price that Spot saves: a range, because the price changes."""

    low: Decimal
    high: Decimal
    types: Mapping[str, Decimal]  # discounts of the source, by instance type
    source: Source


@dataclass(frozen=True)
class Book:
    """All prices of one region."""

    region: str
    prices: Mapping[str, Price]  # prices by item
    unpriced: Mapping[str, str]  # items without a dated price, and the reason: shown as unpriced, never as zero
    spot: SpotDiscount
    on_demand: Mapping[str, Price] = field(default_factory=dict)  # prices of instance types in the file itself

    def get(self, name: str) -> Price:
        """Return the price of that name; a KeyError gives the reason if there is none."""
        if name not in self.prices:
            message = f"the catalog has no price for {name!r}: {self.why(name)}"
            raise KeyError(message)
        return self.prices[name]

    def why(self, name: str) -> str:
        """Reason why there is no price of that name."""
        return self.unpriced.get(name, f"it has {', '.join(self.prices)}")

    def instance(self, name: str) -> Price | None:
        """On-demand price of a type for an hour, Linux; None if it is not sold or not known."""
        if name in self.on_demand:
            return self.on_demand[name]
        if self.region != REGION:
            return None
        known = instances.find(name)
        if known is None or known.usd_per_hour is None:
            return _others().get(name)
        return Price(known.usd_per_hour, "hour", instances.OWN_SOURCES.get(name, ON_DEMAND_SOURCE))


def read(document: Mapping[str, Any]) -> Book:
    """The price book of one file."""
    spot = document["spot"]
    return Book(
        region=document["region"],
        prices=_prices(document["prices"]),
        unpriced=MappingProxyType(document["unpriced"]),
        spot=SpotDiscount(
            low=Decimal(spot["low"]),
            high=Decimal(spot["high"]),
            types=MappingProxyType({name: Decimal(share) for name, share in spot["types"].items()}),
            source=source(spot),
        ),
        on_demand=_prices(document.get("instances", {})),
    )


def _prices(entries: Mapping[str, Any]) -> Mapping[str, Price]:
    return MappingProxyType(
        {
            name: Price(Decimal(each["usd"]), each["unit"], source(each), each.get("per", 1))
            for name, each in entries.items()
        }
    )


@cache
def _others() -> Mapping[str, Price]:
    """Prices of types that are not in the catalog, which a user may add."""
    document = load("on-demand.json")
    of_all = source(document)
    return {name: Price(Decimal(usd), "hour", of_all) for name, usd in document["usd_per_hour"].items()}


HERE: Final = read(load("prices.yaml"))  # prices of `REGION`
REGION: Final = HERE.region  # the one region whose prices are always available
PRICES: Final = HERE.prices
UNPRICED: Final = HERE.unpriced
SPOT: Final = HERE.spot


@cache
def book(region: str) -> Book:
    """Prices of a region; those of `REGION` if it has no file, as `Book.region` then shows."""
    name = f"prices-{region}.yaml"
    if region == REGION or not (files("spec.catalog") / "data" / name).is_file():
        return HERE
    return read(load(name))


def get(name: str) -> Price:
    """Return the price of that name in `REGION`; a KeyError gives the reason if there is none."""
    return HERE.get(name)

"""An estimate as data: lines with their counts and unit prices, and what has no price."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from infra.catalog.document import Source
from infra.catalog.prices import HOURS_PER_MONTH, Price


@dataclass(frozen=True, kw_only=True)
class Line:
    """One thing that costs money for as long as it is there.

    Attributes:
        what: Name for a reader.
        least: Units that are always there.
        most: Units at the settings' upper bounds.
        low: Lowest price of a unit for an hour, USD; where it is a range, as Spot's is.
        high: Highest price of a unit for an hour, USD.
        unit: What is counted: `node`, `gateway`, `GB`.
        source: Where the price is from, and of which day.
    """

    what: str
    least: int
    most: int
    low: Decimal
    high: Decimal
    unit: str
    source: Source

    @property
    def floor(self) -> Decimal:
        """USD an hour that are always spent."""
        return self.least * self.low

    @property
    def ceiling(self) -> Decimal:
        """USD an hour when all of it runs."""
        return self.most * self.high


@dataclass(frozen=True)
class Unpriced:
    """Something that costs money and has no price here: never a zero in a sum."""

    what: str
    why: str


@dataclass(frozen=True)
class Estimate:
    """What a stack costs for an hour: never less than `floor`, `ceiling` at most, both without what is unpriced."""

    region: str
    lines: tuple[Line, ...]
    unpriced: tuple[Unpriced, ...]

    @property
    def floor(self) -> Decimal:
        """USD an hour with everything at its minimum."""
        return _sum(line.floor for line in self.lines)

    @property
    def ceiling(self) -> Decimal:
        """USD an hour with everything at its maximum."""
        return _sum(line.ceiling for line in self.lines)


def priced(what: str, price: Price, least: int, most: int | None = None, unit: str = "") -> Line:
    """A line at a catalog price, which holds for a month or an hour."""
    hourly = price.usd if price.unit.endswith("hour") else price.usd / HOURS_PER_MONTH
    count = least if most is None else most
    return Line(what=what, least=least, most=count, low=hourly, high=hourly, unit=unit, source=price.source)


def _sum(amounts: Iterable[Decimal]) -> Decimal:
    return sum(amounts, Decimal(0))

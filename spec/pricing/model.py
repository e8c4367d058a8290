"""An estimate as data: lines with their counts and unit prices, sums of them, and what has no price."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

from spec.catalog.document import Source
from spec.catalog.prices import HOURS_PER_MONTH

K = TypeVar("K")


@dataclass(frozen=True)
class Amounts:
    """USD an hour, three times: with everything at its least, as it is expected, with everything at its most."""

    floor: Decimal = Decimal(0)
    expected: Decimal = Decimal(0)
    ceiling: Decimal = Decimal(0)

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.floor + other.floor, self.expected + other.expected, self.ceiling + other.ceiling)

    def __sub__(self, other: Amounts) -> Amounts:
        return Amounts(self.floor - other.floor, self.expected - other.expected, self.ceiling - other.ceiling)

    def __mul__(self, part: Fraction | Decimal) -> Amounts:
        by = part if isinstance(part, Decimal) else Decimal(part.numerator) / Decimal(part.denominator)
        return Amounts(self.floor * by, self.expected * by, self.ceiling * by)

    @property
    def month(self) -> Amounts:
        """The same for a month of 730 hours."""
        return self * HOURS_PER_MONTH


@dataclass(frozen=True, kw_only=True)
class Line:
    """One thing that costs money.

    `service`, `pool` and `item` together name it, and stay the same when its count or price changes.

    Attributes:
        service: Service of the bill: `EC2`, `EBS`, `NAT`, ... (`spec.pricing.services`).
        item: What it is, for a reader; without counts and types, which are in `note`.
        pool: Pool that it belongs to; None where it belongs to none.
        unit: What is counted: `node`, `gateway`, `GB`.
        minimum: Units that are always there, on average over a week where a schedule takes them away.
        typical: Units that are expected, on average over a week.
        maximum: Units at the settings' upper bounds.
        low: Lowest price of a unit for an hour, USD; where it is a range, as Spot's is.
        usual: Expected price of a unit for an hour, USD.
        high: Highest price of a unit for an hour, USD.
        source: Where the price is from, and of which day.
        note: What a reader may want to know of it: types, zones, what was assumed.
        shares: Teams and their parts of the line; what they leave is the platform's own.
    """

    service: str
    item: str
    pool: str | None = None
    unit: str
    minimum: Decimal
    typical: Decimal
    maximum: Decimal
    low: Decimal
    usual: Decimal
    high: Decimal
    source: Source
    note: str = ""
    shares: tuple[tuple[str, Fraction], ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it, in an estimate and in another of the same stack."""
        return (self.service, self.pool or "", self.item)

    @property
    def floor(self) -> Decimal:
        """USD an hour that are always spent."""
        return self.minimum * self.low

    @property
    def expected(self) -> Decimal:
        """USD an hour as expected."""
        return self.typical * self.usual

    @property
    def ceiling(self) -> Decimal:
        """USD an hour when all of it runs."""
        return self.maximum * self.high

    @property
    def amounts(self) -> Amounts:
        """All three."""
        return Amounts(self.floor, self.expected, self.ceiling)

    @property
    def team(self) -> str | None:
        """The team that has all of it; None where several share it, or none has any."""
        return next((team for team, part in self.shares if part == 1), None)


@dataclass(frozen=True)
class Unpriced:
    """Something that costs money and has no price here: never a zero in a sum."""

    what: str
    why: str


@dataclass(frozen=True)
class Estimate:
    """What a stack costs for an hour: never less than `floor`, `ceiling` at most, all without what is unpriced."""

    region: str
    lines: tuple[Line, ...]
    unpriced: tuple[Unpriced, ...]

    @property
    def amounts(self) -> Amounts:
        """All three sums."""
        return sum((line.amounts for line in self.lines), Amounts())

    @property
    def floor(self) -> Decimal:
        """USD an hour with everything at its minimum."""
        return self.amounts.floor

    @property
    def expected(self) -> Decimal:
        """USD an hour as the settings expect it: schedules, Spot, and the use that they declare."""
        return self.amounts.expected

    @property
    def ceiling(self) -> Decimal:
        """USD an hour with everything at its maximum."""
        return self.amounts.ceiling

    def by_service(self) -> dict[str, Amounts]:
        """Sums by service, the dearest first."""
        return _grouped((line.service, line.amounts) for line in self.lines)

    def by_pool(self) -> dict[str | None, Amounts]:
        """Sums by pool, the dearest first; under None what belongs to no pool."""
        return _grouped((line.pool, line.amounts) for line in self.lines)

    def by_team(self) -> dict[str | None, Amounts]:
        """Sums by team, the dearest first; under None what no team has: the platform's own.

        What a pool costs is split by the teams' nominal shares of it, whole; shared file systems by the storage that
        teams may claim (`spec.pricing.teams`).
        """
        return _grouped(part for line in self.lines for part in _parts(line))


def priced(
    service: str,
    item: str,
    price: tuple[Decimal, Source],
    counts: tuple[Decimal | int, Decimal | int, Decimal | int],
    unit: str,
    *,
    pool: str | None = None,
    note: str = "",
) -> Line:
    """A line of one price for an hour, with its least, typical and greatest count."""
    hourly, source = price
    minimum, typical, maximum = (Decimal(count) for count in counts)
    return Line(
        service=service,
        item=item,
        pool=pool,
        unit=unit,
        minimum=minimum,
        typical=typical,
        maximum=maximum,
        low=hourly,
        usual=hourly,
        high=hourly,
        source=source,
        note=note,
    )


def _parts(line: Line) -> list[tuple[str | None, Amounts]]:
    rest = 1 - sum((part for _, part in line.shares), Fraction(0))
    parts: list[tuple[str | None, Amounts]] = [(team, line.amounts * part) for team, part in line.shares]
    return parts if rest == 0 else [*parts, (None, line.amounts * rest)]


def _grouped(rows: Iterable[tuple[K, Amounts]]) -> dict[K, Amounts]:
    sums: dict[K, Amounts] = {}
    for key, amounts in rows:
        sums[key] = sums.get(key, Amounts()) + amounts
    return dict(sorted(sums.items(), key=lambda row: (-row[1].expected, -row[1].ceiling, str(row[0]))))

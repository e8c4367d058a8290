"""An estimate as data: lines with counts and unit prices, their sums, unpriced items, and the parts of teams.

Lines are made with prices of the catalog by a `Pricer`, the one place where a missing price gives an unpriced item. The
whole cost of a pool is allocated to the teams with a nominal quota of it, in proportion: a team pays for its guaranteed
machines, whether they run for it or are idle. The storage of teams' claims (shared file systems, block volumes of
claims) is allocated by the storage that each team may claim (`storageGib`). Everything else - control plane, network,
the system pool, keys, logs, buckets - is the platform's own and is not allocated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

from spec import clock
from spec.catalog.document import Source
from spec.catalog.prices import HOURS_PER_MONTH, Book
from spec.settings.platform import Platform

K = TypeVar("K")


@dataclass(frozen=True)
class Amounts:
    """USD per hour, three times: with everything at its minimum, as expected, with everything at its maximum."""

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
    """One billable item.

    `service`, `pool` and `item` together identify it, and stay the same when its count or price changes."""

    service: str  # service of the bill: `EC2`, `EBS`, `NAT`, ... (`spec.pricing.services`)
    item: str  # description for a reader, without counts and types, which are in `note`
    pool: str | None = None  # pool that it belongs to, or None
    unit: str  # unit of the counts: `node`, `gateway`, `GB`
    minimum: Decimal  # units that always run, with a schedule on average over a week
    typical: Decimal  # expected units, on average over a week
    maximum: Decimal  # units at the upper bounds of the settings
    low: Decimal  # lowest price of a unit for an hour, USD; it differs from `high` for Spot
    usual: Decimal  # expected price of a unit for an hour, USD
    high: Decimal  # highest price of a unit for an hour, USD
    source: Source  # source and date of the price
    note: str = ""  # details for a reader: types, zones, assumptions
    shares: tuple[tuple[str, Fraction], ...] = ()  # teams and their parts of the line; the rest is the platform's

    @property
    def key(self) -> tuple[str, str, str]:
        """Identifies it in all estimates of a stack."""
        return (self.service, self.pool or "", self.item)

    @property
    def floor(self) -> Decimal:
        """USD per hour at the minimum."""
        return self.minimum * self.low

    @property
    def expected(self) -> Decimal:
        """USD per hour as expected."""
        return self.typical * self.usual

    @property
    def ceiling(self) -> Decimal:
        """USD per hour at the maximum."""
        return self.maximum * self.high

    @property
    def amounts(self) -> Amounts:
        """Floor, expected cost and ceiling."""
        return Amounts(self.floor, self.expected, self.ceiling)

    @property
    def team(self) -> str | None:
        """The team that has all of it; None if several teams or no team have parts of it."""
        return next((team for team, part in self.shares if part == 1), None)


@dataclass(frozen=True)
class Unpriced:
    """A billable item without a price: never counted as zero."""

    what: str
    why: str


@dataclass(frozen=True)
class Estimate:
    """Hourly cost of a stack, from `floor` to `ceiling`, without unpriced items."""

    region: str
    lines: tuple[Line, ...]
    unpriced: tuple[Unpriced, ...]

    @property
    def amounts(self) -> Amounts:
        """Sums of all lines."""
        return sum((line.amounts for line in self.lines), Amounts())

    @property
    def floor(self) -> Decimal:
        """USD per hour with everything at its minimum."""
        return self.amounts.floor

    @property
    def expected(self) -> Decimal:
        """USD per hour with schedules, Spot and the use that the settings declare."""
        return self.amounts.expected

    @property
    def ceiling(self) -> Decimal:
        """USD per hour with everything at its maximum."""
        return self.amounts.ceiling

    def by_service(self) -> dict[str, Amounts]:
        """Sums by service, the most expensive first."""
        return _grouped((line.service, line.amounts) for line in self.lines)

    def by_pool(self) -> dict[str | None, Amounts]:
        """Sums by pool, the most expensive first; None is the key of items without a pool."""
        return _grouped((line.pool, line.amounts) for line in self.lines)

    def by_team(self) -> dict[str | None, Amounts]:
        """Sums by team, the most expensive first; None is the key of the platform's own costs.

        The whole cost of a pool is split by the teams' nominal quotas of it; shared file systems by the storage that
        teams may claim (`spec.pricing.model`).
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
    """A line with one hourly price, and a minimum, typical and maximum count."""
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


def _grouped(amounts_by_key: Iterable[tuple[K, Amounts]]) -> dict[K, Amounts]:
    sums: dict[K, Amounts] = {}
    for key, amounts in amounts_by_key:
        sums[key] = sums.get(key, Amounts()) + amounts
    return dict(sorted(sums.items(), key=lambda item: (-item[1].expected, -item[1].ceiling, str(item[0]))))


Number = Decimal | int | float
Item = Line | Unpriced


@dataclass(frozen=True)
class Pricer:
    """Creates lines with the prices of a region."""

    book: Book
    day: date = field(default_factory=clock.today)  # day of the estimate, which is that of prices of the stack file

    def line(  # noqa: PLR0913 - a line has that many parts
        self,
        service: str,
        item: str,
        name: str,
        unit: str,
        *,
        minimum: Number,
        typical: Number | None = None,
        maximum: Number | None = None,
        pool: str | None = None,
        note: str = "",
    ) -> Item:
        """An item with a price of the catalog. By default the typical count is the minimum, the maximum the typical."""
        price = self.book.prices.get(name)
        if price is None:
            return Unpriced(
                _what(service, item, pool), self.book.why(name) if name in self.book.unpriced else _unknown(name)
            )
        few = exact(minimum)
        usual = few if typical is None else exact(typical)
        return Line(
            service=service,
            item=item,
            pool=pool,
            unit=unit,
            minimum=few,
            typical=usual,
            maximum=usual if maximum is None else exact(maximum),
            low=price.hourly,
            usual=price.hourly,
            high=price.hourly,
            source=price.source,
            note=note,
        )

    def used(
        self, service: str, item: str, name: str, unit: str, amount: Number | None, setting: str, note: str = ""
    ) -> Item:
        """An item that is billed by monthly use; unpriced if no use is declared.

        Args:
            name: Name of the price in the catalog.
            unit: Unit of the amount.
            amount: Units per month; None if no use is declared.
            setting: Path of the setting that declares the use.
        """
        if amount is not None:
            return self.line(service, item, name, unit, minimum=0, typical=amount, note=note or "declared use")
        price = self.book.prices.get(name)
        if price is None:
            return Unpriced(_what(service, item), self.book.why(name) if name in self.book.unpriced else _unknown(name))
        return Unpriced(_what(service, item), f"by use: {price.text}; declare {setting}")


def exact(number: Number) -> Decimal:
    """A count of the settings without the noise of binary fractions."""
    return number if isinstance(number, Decimal) else Decimal(str(number))


def _what(service: str, item: str, pool: str | None = None) -> str:
    return f"pool {pool}: {item}" if pool else f"{service}: {item}"


def _unknown(name: str) -> str:
    return f"the catalog has no price {name!r}"


Shares = tuple[tuple[str, Fraction], ...]


def of_pool(pool: str, platform: Platform) -> Shares:
    """Parts of teams in a pool, by their nominal quotas of it; empty if no team has any."""
    shares = {name: team.shares.get(pool) for name, team in platform.teams.items()}
    return _shares({name: share.nominal_quota for name, share in shares.items() if share is not None})


def of_claims(platform: Platform) -> Shares:
    """Parts of teams in the storage of volume claims, by the storage that each may claim."""
    return _shares({name: team.storage_gib for name, team in platform.teams.items()})


def shared(item: Item, shares: Shares) -> Item:
    """An item with the parts of its teams; an unpriced item has none."""
    return replace(item, shares=shares) if isinstance(item, Line) else item


def _shares(amounts: Mapping[str, int]) -> Shares:
    whole = sum(amounts.values())
    return tuple((name, Fraction(amount, whole)) for name, amount in sorted(amounts.items()) if amount)

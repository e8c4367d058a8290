"""Lines from names of the catalog: a price that is missing becomes an item without one, in this one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Final

from spec import clock
from spec.catalog.prices import Book
from spec.pricing.model import Line, Unpriced

Number = Decimal | int | float
Item = Line | Unpriced
ZERO: Final = Decimal(0)


@dataclass(frozen=True)
class Pricer:
    """Makes lines at the prices of a region."""

    book: Book
    day: date = field(default_factory=clock.today)
    """Day of the estimate, which is that of prices of the stack file."""

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
        """Something at a price of the catalog; as many at most as typically, and typically as at least, where not
        given."""
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
        """Something billed by use in a month; without a price in any sum where no use is declared.

        Args:
            service: Service of the bill.
            item: What it is.
            name: Name of its price.
            unit: What is counted.
            amount: Units a month; None where nothing is declared.
            setting: Path of the setting that would declare it.
            note: What else to say of it.
        """
        if amount is not None:
            return self.line(service, item, name, unit, minimum=0, typical=amount, note=note or "declared use")
        price = self.book.prices.get(name)
        if price is None:
            return Unpriced(_what(service, item), self.book.why(name) if name in self.book.unpriced else _unknown(name))
        return Unpriced(_what(service, item), f"by use: {price.said}; declare {setting}")


def exact(number: Number) -> Decimal:
    """A count of the settings without the noise of binary fractions."""
    return number if isinstance(number, Decimal) else Decimal(str(number))


def _what(service: str, item: str, pool: str | None = None) -> str:
    return f"pool {pool}: {item}" if pool else f"{service}: {item}"


def _unknown(name: str) -> str:
    return f"the catalog has no price {name!r}"

"""Lines from prices of the catalog; the one place where a missing price gives an unpriced item."""

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
    """Creates lines with the prices of a region."""

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
            service: Service of the bill.
            item: Description.
            name: Name of the price in the catalog.
            unit: Unit of the amount.
            amount: Units per month; None if no use is declared.
            setting: Path of the setting that declares the use.
            note: Details for a reader.
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

"""A cost difference as text: changed lines, totals, and items that became unpriced."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from slipway.cost.difference import Change, Difference
from slipway.cost.table import Row, aligned, fitted, folded, foreign_prices, money, titled
from spec.pricing.model import Amounts, Line

_HEAD: Final = ("service", "item", "before", "after", "floor USD/month", "expected", "ceiling")
_TEXT: Final = 2
_CENT: Final = "0.01"


def changes(result: Difference, name: str, *, wide: bool = False) -> str:
    """Every line that differs, in USD a month, largest first; ends with a newline.

    Args:
        result: The difference.
        name: Name of the baseline: `main`, `what is deployed`.
        wide: Also notes and counts, in as many columns as they take.
    """
    if not result.changes and not result.new and not result.gone:
        return f"The cost does not differ from {name}.\n"
    totals = (
        ("before", "", "", "", *_plain(result.before.amounts)),
        ("after", "", "", "", *_plain(result.after.amounts)),
        ("difference", "", "", "", *_signed(result.amounts)),
    )
    rows = [_HEAD, *(_row(change, note=wide) for change in result.changes), *totals]
    head = f"Compared with {name}, a month (730 h). Both settings are priced with today's program and today's prices."
    parts = [
        head if wide else folded(head),
        "\n".join(aligned(rows, _TEXT) if wide else fitted([(*row[:_TEXT], *row[-3:]) for row in rows])),
        "\n".join(f"newly unpriced: {item.what} ({item.why})" for item in result.new),
        "\n".join(f"no longer unpriced: {item.what}" for item in result.gone),
        foreign_prices(result.after.region),
    ]
    if not wide:
        parts[2:] = ["\n".join(map(folded, part.splitlines())) for part in parts[2:]]
    return "\n\n".join(part for part in parts if part) + "\n"


def signed(amount: Decimal, digits: str = _CENT) -> str:
    """With its sign: `+12.30`, `-4.00`, `0.00`."""
    text = money(amount, digits)
    return f"+{text}" if Decimal(text.replace(",", "")) > 0 else text.replace("-0.00", "0.00") if _zero(text) else text


def _zero(text: str) -> bool:
    return Decimal(text.replace(",", "")) == 0


def _row(change: Change, *, note: bool) -> Row:
    what = titled(change.line, note=note)
    return (change.line.service, what, _count(change.before), _count(change.after), *_signed(change.amounts))


def _count(line: Line | None) -> str:
    if line is None:
        return "-"
    counts: Sequence[str] = list(dict.fromkeys(_number(each) for each in (line.minimum, line.typical, line.maximum)))
    return " / ".join(counts)


def _number(count: Decimal) -> str:
    return f"{count.quantize(Decimal(_CENT)):,f}".rstrip("0").rstrip(".")


def _plain(amounts: Amounts) -> tuple[str, str, str]:
    month = amounts.month
    return money(month.floor, _CENT), money(month.expected, _CENT), money(month.ceiling, _CENT)


def _signed(amounts: Amounts) -> tuple[str, str, str]:
    month = amounts.month
    return signed(month.floor), signed(month.expected), signed(month.ceiling)

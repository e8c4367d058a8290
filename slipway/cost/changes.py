"""A difference of two bills as text: lines by size, totals, what came to have no price."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from slipway.cost.difference import Change, Difference
from slipway.cost.table import Row, aligned, elsewhere, money, titled
from spec.pricing.model import Amounts, Line

_HEAD: Final = ("service", "what", "before", "after", "floor USD/month", "expected", "ceiling")
_TEXT: Final = 2
_CENT: Final = "0.01"


def changes(found: Difference, name: str) -> str:
    """Every line that differs, for a month, the greatest first; ends with a newline.

    Args:
        found: The difference.
        name: What it is compared with: `main`, `what is deployed`.
    """
    if not found.changes and not found.new and not found.gone:
        return f"Nothing of the bill differs from {name}.\n"
    totals = (
        ("before", "", "", "", *_plain(found.before.amounts)),
        ("after", "", "", "", *_plain(found.after.amounts)),
        ("difference", "", "", "", *_signed(found.amounts)),
    )
    parts = [
        f"Against {name}, a month (730 h), settings alone: both at today's prices, by today's program.",
        "\n".join(aligned([_HEAD, *map(_row, found.changes), *totals], _TEXT)),
        "\n".join(f"now without a price: {item.what} ({item.why})" for item in found.new),
        "\n".join(f"no longer without a price: {item.what}" for item in found.gone),
        elsewhere(found.after.region),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def signed(amount: Decimal, digits: str = _CENT) -> str:
    """With its sign: `+12.30`, `-4.00`, `0.00`."""
    text = money(amount, digits)
    return f"+{text}" if Decimal(text.replace(",", "")) > 0 else text.replace("-0.00", "0.00") if _zero(text) else text


def _zero(text: str) -> bool:
    return Decimal(text.replace(",", "")) == 0


def _row(change: Change) -> Row:
    what = titled(change.line)
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

"""An estimate as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from infra.catalog.prices import HOURS_PER_MONTH, REGION
from slipway.cost.model import Estimate, Line

_HEAD: Final = ("what", "count", "USD/h each", "price of", "least USD/h", "most USD/h")


def table(estimate: Estimate) -> str:
    """Lines, totals by the hour and month, and what is not in them; ends with a newline."""
    month = (estimate.floor * HOURS_PER_MONTH, estimate.ceiling * HOURS_PER_MONTH)
    rows = [
        _HEAD,
        *map(_row, estimate.lines),
        ("total an hour", "", "", "", _money(estimate.floor), _money(estimate.ceiling)),
        (f"total a month ({HOURS_PER_MONTH} h)", "", "", "", *map(_money, month)),
    ]
    text = _aligned(rows) + [f"not in it: {item.what} ({item.why})" for item in estimate.unpriced]
    if estimate.region != REGION:
        text.append(f"prices are those of {REGION}; {estimate.region} has its own")
    return "\n".join(text) + "\n"


def _row(line: Line) -> tuple[str, ...]:
    count = str(line.most) if line.least == line.most else f"{line.least} to {line.most}"
    each = _price(line.high) if line.low == line.high else f"{_price(line.low)} to {_price(line.high)}"
    return (line.what, count, each, str(line.source.day), _money(line.floor), _money(line.ceiling))


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _money(amount: Decimal) -> str:
    """Tenths of a cent: a key costs that much an hour, and nothing that costs is shown as nothing."""
    return f"{amount.quantize(Decimal('0.001'), ROUND_HALF_UP):,}"


def _price(amount: Decimal) -> str:
    """Four digits that count: prices run from 0.00005 to 100."""
    return f"{amount:.2f}" if amount >= 1 else f"{amount:.4g}".rstrip(".")

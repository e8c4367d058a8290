"""Estimates as text for a terminal, and as JSON."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from textwrap import fill
from typing import Any, Final

from slipway.columns import aligned
from spec.catalog import prices
from spec.pricing.model import Amounts, Estimate, Line, Unpriced

# An estimate as text for a terminal: lines, totals by service, pool and team, and unpriced items.


Row = Sequence[str]
_HEAD: Final = ("service", "item", "count", "USD/h each", "price date", "floor USD/h", "expected", "ceiling")
_TEXT: Final = 2  # number of left-aligned text columns
_ITEM: Final = 1  # position of the item among them
WIDTH: Final = 80  # columns of a terminal without another size
OWN: Final = "platform (no team)"  # name of the costs that are attributed to no team


def table(estimate: Estimate, *, wide: bool = False) -> str:
    """The whole estimate; ends with a newline.

    Args:
        wide: Also notes, counts, unit prices and their dates, in as many columns as they take; else at most `WIDTH`.
    """
    total = three(estimate.amounts)
    if wide:
        lines = numbered([_HEAD, *map(_row, estimate.lines), ("total an hour", "", "", "", "", *total)], _TEXT)
    else:
        short = [(line.service, titled(line, note=False), *three(line.amounts)) for line in estimate.lines]
        lines = fitted([(*_HEAD[:_TEXT], *_HEAD[-3:]), *short, ("total an hour", "", *total)])
    text = str if wide else folded
    parts = [
        "\n".join(lines),
        sums("service", estimate.by_service(), estimate.amounts),
        sums("pool", _named(estimate.by_pool(), "no pool"), estimate.amounts),
        sums("team", _named(estimate.by_team(), OWN), estimate.amounts)
        if any(line.shares for line in estimate.lines)
        else "",
        "\n".join(text(f"unpriced: {item.what} ({item.why})") for item in estimate.unpriced),
        text(foreign_prices(estimate.region)),
        "" if wide else "`slipway cost --wide` adds counts, unit prices and their dates.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def sums(by: str, groups: Mapping[str, Amounts], total: Amounts) -> str:
    """Totals of each group and of all groups, for a month."""
    head = (f"by {by}", "floor USD/month", "expected", "ceiling")
    rows = [(name, *three(amounts.month, "0.01")) for name, amounts in groups.items()]
    whole = (f"total a month ({prices.HOURS_PER_MONTH} h)", *three(total.month, "0.01"))
    return "\n".join(numbered([head, *rows, whole], 1))


def foreign_prices(region: str) -> str:
    """A note if a stack is priced with the prices of another region; empty otherwise."""
    used = prices.book(region).region
    return (
        ""
        if used == region
        else f"prices are for {used}; to get those of {region}, run `slipway catalog prices --region {region}`"
    )


def numbered(rows: Sequence[Row], words: int) -> list[str]:
    """Rows as aligned lines: the first `words` columns have words, the others numbers."""
    return aligned(rows, range(words, len(rows[0])))


def fitted(rows: Sequence[Row]) -> list[str]:
    """Rows as lines of at most `WIDTH` columns: service and item left-aligned, the item shortened where it must be."""
    others = [max(len(row[column]) for row in rows) for column in range(len(rows[0])) if column != _ITEM]
    width = WIDTH - sum(others) - 2 * len(others)
    return numbered([(*row[:_ITEM], _shortened(row[_ITEM], width), *row[_ITEM + 1 :]) for row in rows], _TEXT)


def folded(text: str) -> str:
    """A sentence on lines of at most `WIDTH` columns."""
    return fill(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def money(amount: Decimal, digits: str = "0.001") -> str:
    """An amount, by default to a tenth of a cent: the hourly cost of a KMS key is that low."""
    return f"{amount.quantize(Decimal(digits), ROUND_HALF_UP):,}"


def titled(line: Line, *, note: bool = True) -> str:
    """The pool, item and note of a line."""
    what = f"{line.pool}: {line.item}" if line.pool else line.item
    return f"{what} ({line.note})" if line.note and note else what


def _row(line: Line) -> Row:
    counts = dict.fromkeys(number(count) for count in (line.minimum, line.typical, line.maximum))
    each = dict.fromkeys(_price(price) for price in (line.low, line.usual, line.high))
    amounts = three(line.amounts)
    return (line.service, titled(line), " / ".join(counts), " / ".join(each), str(line.source.day), *amounts)


def three(amounts: Amounts, digits: str = "0.001") -> tuple[str, str, str]:
    """Floor, expected cost and ceiling."""
    return money(amounts.floor, digits), money(amounts.expected, digits), money(amounts.ceiling, digits)


def _named(groups: Mapping[str | None, Amounts], nothing: str) -> dict[str, Amounts]:
    return {nothing if name is None else name: amounts for name, amounts in groups.items()}


def number(count: Decimal) -> str:
    """A count, to a hundredth."""
    rounded = count.quantize(Decimal("0.01"), ROUND_HALF_UP)
    return f"{rounded:,f}".rstrip("0").rstrip(".")


def _price(amount: Decimal) -> str:
    """Four significant digits: prices range from a millionth to 100."""
    return f"{amount:.2f}" if amount >= 1 else f"{amount:.4g}".rstrip(".")


# Estimates and differences as JSON; amounts are text, so that they stay exact decimals.


def of_estimate(estimate: Estimate) -> dict[str, Any]:
    """An estimate as plain values; keys in camel case, as in the stack files."""
    return {
        "region": estimate.region,
        "usdPerHour": amounts(estimate.amounts),
        "usdPerMonth": monthly(estimate.amounts),
        "byService": _groups(estimate.by_service()),
        "byPool": _groups(estimate.by_pool()),
        "byTeam": _groups(estimate.by_team()),
        "lines": [_line(line) for line in estimate.lines],
        "unpriced": unpriced(estimate.unpriced),
    }


def amounts(of: Amounts, digits: str = "0.000001") -> dict[str, str]:
    """Floor, expected cost and ceiling as text, to a millionth of a dollar."""
    three = {"floor": of.floor, "expected": of.expected, "ceiling": of.ceiling}
    return {name: money(amount, digits).replace(",", "") for name, amount in three.items()}


def monthly(of: Amounts) -> dict[str, str]:
    """Floor, expected cost and ceiling of a month, to the cent."""
    return amounts(of.month, "0.01")


def _groups(groups: Mapping[str | None, Amounts] | Mapping[str, Amounts]) -> list[dict[str, Any]]:
    return [{"name": name, "usdPerMonth": monthly(of)} for name, of in groups.items()]


def unpriced(items: tuple[Unpriced, ...]) -> list[dict[str, str]]:
    """Items without a price, with the reason."""
    return [{"what": item.what, "why": item.why} for item in items]


def _line(line: Line) -> dict[str, Any]:
    return {
        "service": line.service,
        "pool": line.pool,
        "item": line.item,
        "unit": line.unit,
        "units": {"minimum": str(line.minimum), "typical": str(line.typical), "maximum": str(line.maximum)},
        "usdPerHour": amounts(line.amounts),
        "shares": {team: f"{part.numerator}/{part.denominator}" for team, part in line.shares},
        "source": {"text": line.source.text, "date": line.source.day.isoformat()},
        "note": line.note,
    }

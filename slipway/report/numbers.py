"""Formats numbers for readers, in the page and in the comment."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

_CENT: Final = Decimal("0.01")
_WHOLE: Final = Decimal(1)
_MINUS: Final = "\N{MINUS SIGN}"
_DASH: Final = "\N{EN DASH}"


def usd(amount: Decimal) -> str:
    """In whole dollars, so that columns line up: `$1,234`; `<$1` for smaller amounts above zero."""
    if 0 < amount < 1:
        return "<$1"
    return _dollars(amount.quantize(_WHOLE, ROUND_HALF_UP))


def cents(amount: Decimal) -> str:
    """To the cent: `$1,234.56`."""
    return _dollars(amount.quantize(_CENT, ROUND_HALF_UP))


def signed(amount: Decimal) -> str:
    """A difference to the cent, with its sign: `+$1,234.56`; `$0.00` if there is none."""
    rounded = amount.quantize(_CENT, ROUND_HALF_UP)
    return f"+{_dollars(rounded)}" if rounded > 0 else _dollars(abs(rounded) if rounded == 0 else rounded)


def span(low: int, high: int) -> str:
    """A range; one number if both ends are equal."""
    return f"{low:,}" if low == high else f"{low:,}{_DASH}{high:,}"


def usd_span(low: Decimal | None, high: Decimal | None) -> str:
    """A price range; empty without a price."""
    if low is None or high is None:
        return ""
    return cents(low) if low == high else f"{cents(low)}{_DASH}{cents(high).removeprefix('$')}"


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 pool`, `3 pools`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def sentence(text: str) -> str:
    """With a capital letter at the start, and the rest as it is."""
    return text[:1].upper() + text[1:]


def _dollars(amount: Decimal) -> str:
    return f"{_MINUS if amount < 0 else ''}${abs(amount):,}"

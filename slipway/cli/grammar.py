"""What the value of an option may be: readers for argparse, by their names in commands.yaml."""

import argparse
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NoReturn

from spec.quantities import seconds as seconds_of

KEEP: Final = "keep"
MOST_SECONDS: Final = 3600.0
MOST_LOAD: Final = 10.0


def _refuse(rule: str, text: str) -> NoReturn:
    msg = f"{rule} (given: {text!r})"
    raise argparse.ArgumentTypeError(msg)


def _number(text: str) -> float:
    """A number; one that nothing allows for what is none."""
    try:
        return float(text)
    except ValueError:
        return -1.0


def seconds(text: str) -> float:
    """A number of seconds up to an hour."""
    if not 0 <= _number(text) <= MOST_SECONDS:
        _refuse(f"a number of seconds from 0 to {MOST_SECONDS:g}", text)
    return float(text)


def time_to_live(text: str) -> int | None:
    """Seconds of a time such as 90m; None for `keep`."""
    if text == KEEP:
        return None
    if not re.fullmatch("([0-9]+[hms])+", text) or not seconds_of(text):
        _refuse(f"a time such as 4h or 90m, or `{KEEP}`", text)
    return seconds_of(text)


def share(text: str) -> float:
    """A share of something, above 0 and at most 10: 0.7, 1.3."""
    if not 0 < _number(text) <= MOST_LOAD:
        _refuse(f"a share such as 0.7 or 1.3, at most {MOST_LOAD:g}", text)
    return float(text)


def dollars(text: str) -> Decimal:
    """An amount in USD: `1234.56`."""
    if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,2})?", text):
        _refuse("an amount in USD such as 1234.56", text)
    return Decimal(text)


def between(least: int, most: int) -> Callable[[str], int]:
    """Reads a whole number within bounds."""

    def number_of(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and least <= int(text) <= most):
            _refuse(f"a whole number from {least:,} to {most:,}", text)
        return int(text)

    return number_of


def pair(text: str) -> tuple[str, str]:
    """Two names: `V100=A100`."""
    name, equals, value = text.partition("=")
    if not (equals and name and value):
        _refuse("two names such as V100=A100", text)
    return name, value


TYPES: Final[Mapping[str, Callable[[str], Any]]] = {
    "int": int,
    "Path": Path,
    **{each.__name__: each for each in (dollars, pair, seconds, share, time_to_live)},
}
"""By their names in commands.yaml."""

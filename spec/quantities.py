"""Quantities of Kubernetes (`500m`, `16Gi`) as exact numbers, and amounts of resources as integers.

Grammar: kubernetes/apimachinery, pkg/api/resource/quantity.go, `Quantity`, read 2026-11: a number with a suffix or with
an exponent, never both.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Final

MI: Final = 2**20
_BINARY: Final = {f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)}
_DECIMAL: Final = {letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", start=1)}
_SMALL: Final = {letter: Decimal(1000) ** -power for power, letter in enumerate("mun", start=1)}
_UNITS: Final = {"": Decimal(1), **_SMALL, **_BINARY, **_DECIMAL}
# Two digits of exponent are enough for anything that is counted; Kubernetes accepts more.
_FORM: Final = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([eE][+-]?[0-9]{1,2})|([a-zA-Z]*))")


def parse(quantity: str | int) -> Decimal:
    """A quantity in its base unit: cores, bytes, items.

    Raises:
        ValueError: The text is not a quantity.
    """
    match = _FORM.fullmatch(str(quantity))
    if match is None or (match[3] or "") not in _UNITS:
        msg = f"{quantity!r} is not a Kubernetes quantity: write it like 500m, 4 or 16Gi"
        raise ValueError(msg)
    return Decimal(match[1] + (match[2] or "")) * _UNITS[match[3] or ""]


def is_amount(text: object) -> bool:
    """Whether it is a quantity that can be requested: one that `parse` understands and that is not negative."""
    if not isinstance(text, str | int) or isinstance(text, bool):
        return False
    try:
        return parse(text) >= 0
    except ValueError:
        return False


def to_mebibytes(quantity: str | int) -> Decimal:
    """A quantity of memory in MiB."""
    return parse(quantity) / MI


def written(amount: Decimal) -> str:
    """An amount in a form that the API server accepts: whole, else in thousandths, rounded up."""
    if amount == amount.to_integral_value():
        return f"{amount.to_integral_value():f}"
    return f"{(amount * 1000).to_integral_value(ROUND_CEILING):f}m"


def readable(name: str, amount: Decimal) -> str:
    """An amount of a resource for a reader: cores with at most three digits, memory in GiB."""
    if name == "memory" or name.startswith("hugepages"):
        return f"{amount / 2**30:.1f} GiB"
    return f"{amount.normalize():f}"


CPU: Final = "cpu"
MEMORY: Final = "memory"
_UNITS_UP: Final = ("Mi", "Gi", "Ti", "Pi", "Ei")
_STEP: Final = 1024
_MILLI: Final = 1000

Amounts = Mapping[str, int]  # by resource: `cpu` in millicores, `memory` in MiB, extended resources in items


def quantity(resource: str, amount: int) -> str:
    """One amount in the canonical spelling of a quantity."""
    if resource == CPU:
        return f"{amount}m" if amount % _MILLI else str(amount // _MILLI)
    return format_mebibytes(amount) if resource == MEMORY else str(amount)


def counted(number: int) -> str:
    """A number of things in the canonical spelling, in which the API server returns it: 5000 as 5k.

    Otherwise each preview would show a difference.
    """
    for suffix in reversed(_DECIMAL):
        if number and number % _DECIMAL[suffix] == 0:
            return f"{number // _DECIMAL[suffix]}{suffix}"
    return str(number)


def format_mebibytes(amount: int) -> str:
    """MiB in the largest binary unit that divides them."""
    if amount == 0:
        return "0"
    unit = 0
    while amount % _STEP == 0 and unit < len(_UNITS_UP) - 1:
        amount, unit = amount // _STEP, unit + 1
    return f"{amount}{_UNITS_UP[unit]}"


def total(parts: Iterable[Amounts]) -> dict[str, int]:
    """The sum by resource, sorted by name."""
    sums: dict[str, int] = {}
    for part in parts:
        for resource, amount in part.items():
            sums[resource] = sums.get(resource, 0) + amount
    return dict(sorted(sums.items()))


def percent(amounts: Amounts, share: int) -> dict[str, int]:
    """A part of every amount, rounded up, so that a share of something is never zero."""
    return {resource: -(-amount * share // 100) for resource, amount in amounts.items()}


_SECONDS: Final = {"h": 3600, "m": 60, "s": 1}
_PART: Final = re.compile(r"([0-9]+)([hms])")


def seconds(duration: str) -> int:
    """Seconds of a duration."""
    return sum(int(number) * _SECONDS[unit] for number, unit in _PART.findall(duration))


def duration(seconds: float) -> str:
    """In the two largest units: `3 h 20 min`, `45 s`, `2 d 4 h`."""
    whole = round(seconds)
    for size, name, below, part in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size} {name}" + (f" {rest} {part}" if rest else "")
    return f"{whole} s"

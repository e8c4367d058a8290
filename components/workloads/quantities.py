"""Quantities of Kubernetes (`500m`, `16Gi`) as exact numbers.

Grammar: kubernetes.io, "Kubernetes API Concepts", resource.Quantity; without exponents (`1e3`), which nobody writes.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

MI: Final = 2**20
_BINARY: Final = {f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)}
_DECIMAL: Final = {letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", start=1)}
_UNITS: Final = {"": Decimal(1), "m": Decimal("0.001"), **_BINARY, **_DECIMAL}
_FORM: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)([a-zA-Z]*)")


def parse(quantity: str | int) -> Decimal:
    """A quantity in its base unit: cores, bytes, pieces.

    Raises:
        ValueError: For text that is no quantity.
    """
    found = _FORM.fullmatch(str(quantity))
    if found is None or found[2] not in _UNITS:
        msg = f"{quantity!r} is no quantity of Kubernetes: write 500m, 4, 16Gi"
        raise ValueError(msg)
    return Decimal(found[1]) * _UNITS[found[2]]


def is_quantity(text: object) -> bool:
    """Whether `parse` understands it."""
    if not isinstance(text, str | int) or isinstance(text, bool):
        return False
    try:
        parse(text)
    except ValueError:
        return False
    return True


def mebibytes(quantity: str | int) -> Decimal:
    """A quantity of memory in MiB."""
    return parse(quantity) / MI


def text(name: str, amount: Decimal) -> str:
    """An amount of a resource as a person writes it: cores with three digits at most, memory in GiB."""
    if name == "memory" or name.startswith("hugepages"):
        return f"{amount / 2**30:.1f} GiB"
    return f"{amount.normalize():f}"

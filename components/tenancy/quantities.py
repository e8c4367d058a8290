"""Amounts of resources as integers, and as Kubernetes writes them.

Quantities are written as the API server would write them back (`2Gi`, not `2048Mi`), so that nothing ever differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

CPU: Final = "cpu"
MEMORY: Final = "memory"
_BINARY: Final = ("Mi", "Gi", "Ti", "Pi", "Ei")
_STEP: Final = 1024
_MILLI: Final = 1000

Amounts = Mapping[str, int]
"""By resource: `cpu` in millicores, `memory` in MiB, extended resources in pieces."""


def quantity(resource: str, amount: int) -> str:
    """One amount in the canonical spelling of a quantity."""
    if resource == CPU:
        return f"{amount}m" if amount % _MILLI else str(amount // _MILLI)
    return mebibytes(amount) if resource == MEMORY else str(amount)


def mebibytes(amount: int) -> str:
    """MiB in the largest binary unit that divides them."""
    if amount == 0:
        return "0"
    unit = 0
    while amount % _STEP == 0 and unit < len(_BINARY) - 1:
        amount, unit = amount // _STEP, unit + 1
    return f"{amount}{_BINARY[unit]}"


def total(parts: Iterable[Amounts]) -> dict[str, int]:
    """The sum by resource, sorted by name."""
    sums: dict[str, int] = {}
    for part in parts:
        for resource, amount in part.items():
            sums[resource] = sums.get(resource, 0) + amount
    return dict(sorted(sums.items()))


def percent(amounts: Amounts, share: int) -> dict[str, int]:
    """A part of every amount, rounded up: a share of what is there is never nothing."""
    return {resource: -(-amount * share // 100) for resource, amount in amounts.items()}

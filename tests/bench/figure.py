"""A measured number beside its bound, and how a run of them is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """What a figure says of the program."""

    OK = "ok"
    BROKEN = "BROKEN"
    SHOWN = "shown"
    """Worth knowing; nothing is promised about it."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number.

    Attributes:
        name: What was measured, such as `preview`.
        value: The figure, in `unit`.
        unit: `s`, `x` (a ratio) or `MiB`.
        how: What was run, how often, and what of it is the figure.
        bound: The most it may be; `None` where it is only shown.
        notes: Lines that explain it: the chain that was found, what else was seen.
    """

    name: str
    value: float
    unit: str
    how: str
    bound: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether the bound is kept."""
        if self.bound is None:
            return Verdict.SHOWN
        return Verdict.OK if self.value <= self.bound else Verdict.BROKEN

    @property
    def line(self) -> str:
        """Name, figure, bound, verdict and how it was measured, in columns."""
        bound = "" if self.bound is None else f"<= {_number(self.bound, self.unit)}"
        return f"{self.name:<18} {_number(self.value, self.unit):>10}  {bound:<12} {self.verdict:<6}  {self.how}"

    def as_data(self) -> dict[str, Any]:
        """The same for `--json`."""
        return {**asdict(self), "verdict": str(self.verdict)}


def table(figures: Sequence[Figure]) -> str:
    """All figures, one a line, without how they were measured."""
    rows = [figure.line.removesuffix(figure.how).rstrip() for figure in figures]
    return "\n".join(rows)


def broken(figures: Sequence[Figure]) -> list[str]:
    """Names of those that are over their bound."""
    return [figure.name for figure in figures if figure.verdict is Verdict.BROKEN]


def _number(value: float, unit: str) -> str:
    if unit == "MiB":
        return f"{value:.0f} MiB"
    return f"{value:.2f} {unit}"

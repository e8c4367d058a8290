"""A measured number beside its bound, and how a run of them is printed."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """Whether a figure keeps its bound."""

    HELD = "held"
    MISSED = "missed"
    NO_BOUND = "no bound"
    """Worth knowing; nothing is promised about it."""
    NOT_MEASURED = "not measured"
    """Something that it needs is not on this machine; the notes say what."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number."""

    name: str  # what was measured, such as `preview, plain records`
    value: float | None  # the figure, in `unit`; `None` where it was not measured
    unit: str  # `s`, `x` (a ratio), `MiB` or `waits`
    how: str  # what was run, how often, and what of it is the figure
    bound: float | None = None  # the maximum; `None` where there is none
    notes: tuple[str, ...] = ()  # lines that explain it: the chain that was found, what else was seen

    @property
    def verdict(self) -> Verdict:
        """Whether the bound is kept."""
        if self.value is None:
            return Verdict.NOT_MEASURED
        if self.bound is None:
            return Verdict.NO_BOUND
        return Verdict.HELD if self.value <= self.bound else Verdict.MISSED

    @property
    def result(self) -> str:
        """The verdict, and by how much a bound is missed: in percent, of a bound of zero in the unit."""
        if self.verdict is not Verdict.MISSED or self.value is None or self.bound is None:
            return str(self.verdict)
        return f"missed by {self.value / self.bound - 1:.0%}" if self.bound else f"missed by {self._said(self.value)}"

    @property
    def columns(self) -> str:
        """Name, figure, bound and result."""
        bound = "" if self.bound is None else f"<= {self._said(self.bound)}"
        return _columns(self.name, self._said(self.value), bound, self.result)

    @property
    def line(self) -> str:
        """The columns, and how it was measured."""
        return f"{self.columns}  {self.how}"

    def _said(self, value: float | None) -> str:
        if value is None:
            return "-"
        return f"{value:.0f} {self.unit}" if self.unit in {"MiB", "waits"} else f"{value:.2f} {self.unit}"


def table(figures: Sequence[Figure]) -> str:
    """All figures, one a line below the headings, without how they were measured."""
    rows = (_columns("what", "measured", "bound", "result"), *(figure.columns for figure in figures))
    return "\n".join(row.rstrip() for row in rows)


def summary(figures: Sequence[Figure]) -> str:
    """How many bounds are held, and which are missed by how much."""
    held = sum(figure.verdict is Verdict.HELD for figure in figures)
    missed = [f"{figure.name} ({figure.result})" for figure in figures if figure.verdict is Verdict.MISSED]
    return f"bounds held: {held}, missed: {len(missed)}{': ' if missed else ''}{', '.join(missed)}"


def _columns(name: str, value: str, bound: str, result: str) -> str:
    return f"{name:<24} {value:>10}  {bound:<12} {result:<15}"

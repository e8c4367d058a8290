"""Figures of a replay for readers: in the terminal and on the page, alone or beside those of another replay."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from slipway.replay.result import Result
from slipway.report.page import usd
from spec.quantities import duration


def dollars(amount: float) -> str:
    """In whole dollars."""
    return usd(Decimal(repr(round(amount, 2))))


def percent(share: float | None) -> str:
    """A share in percent; a dash without one."""
    return "-" if share is None else f"{100 * share:.1f} %"


@dataclass(frozen=True)
class Figure:
    """One figure: its name, its value as text, and that of the other replay; empty without one."""

    name: str
    value: str
    other: str = ""


_FIGURES: Final[dict[str, Callable[[Result], str]]] = {
    "jobs in no figure": lambda one: f"{one.left_out.jobs:,} of {one.left_out.of:,}",
    "wait, 95th percentile": lambda one: duration(one.waits.p95),
    "GPUs busy of those paid for": lambda one: percent(one.busy_share),
    "cost": lambda one: dollars(one.usd),
    "jobs finished": lambda one: f"{one.jobs.finished:,} of {one.jobs.submitted:,}",
    "wait, mean": lambda one: duration(one.waits.mean),
    "wait, median": lambda one: duration(one.waits.median),
    "GPU hours busy": lambda one: f"{one.gpu_hours_busy:,.0f}",
    "GPU hours paid": lambda one: f"{one.gpu_hours_paid:,.0f}",
    "idle": lambda one: dollars(one.idle_usd),
    "node hours": lambda one: f"{one.node_hours:,.0f}",
    "preemptions": lambda one: f"{one.preemptions:,}",
    "GPU hours lost": lambda one: f"{one.lost_gpu_hours:,.1f}",
}


def headline(result: Result, other: Result | None = None) -> Iterator[Figure]:
    """The figures that describe a replay, and those of another one."""
    for name, of in _FIGURES.items():
        yield Figure(name, of(result), of(other) if other is not None else "")


def what(result: Result) -> str:
    """What was replayed, in a sentence."""
    trace = result.trace
    return (
        f"{trace.jobs:,} jobs of {trace.source} ({trace.format}) on stack {result.stack}, "
        f"{duration(result.seconds)} of virtual time"
    )


def deciders(result: Result) -> Iterator[str]:
    """What decided each part: the code of a project, or a model."""
    for one in result.decided:
        yield f"{one.part}: {'model, ' if one.model else ''}{one.by}"

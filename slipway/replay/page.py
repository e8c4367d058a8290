"""A replay as an HTML page: one file without scripts that makes no network requests, with the style of the report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from slipway.replay import happened
from slipway.replay.figures import deciders, dollars, headline, percent, what
from slipway.replay.result import PoolUse, Result, TeamUse, Waits
from slipway.report.page import sentence
from spec.quantities import duration

WIDTH: Final = 640
HEIGHT: Final = 90  # size of a chart's own coordinates; it is drawn as wide as the page allows
_ROUND: Final = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800)
"""Seconds between two marks of a time axis."""
_MARKS: Final = 7
_POINTS: Final = 56  # columns of a chart whose values are shown below the pointer
SECTIONS: Final = {
    "waits": "Waits",
    "teams": "Teams and queues",
    "pools": "Pools, nodes and money",
    "longest": "Longest waits",
    "about": "What decided, and what was assumed",
}


@dataclass(frozen=True)
class Chart:
    """An amount over time."""

    title: str  # what is drawn
    top: float  # value at its upper edge
    areas: Sequence[tuple[str, str]]
    """Filled shapes by their colour's name, as the path of an SVG; the first is behind the others."""
    marks: Sequence[tuple[float, str]]  # round moments, in percent of its width, with the time since the start
    points: Sequence[tuple[float, str]]
    """Left edges of columns as wide as the next one is away, with what is said of each."""


@dataclass(frozen=True)
class Beside:
    """A row of this replay, and that of the same name in another one; None if it has none."""

    one: TeamUse | PoolUse
    other: TeamUse | PoolUse | None
    charts: Sequence[Chart]


def page(result: Result, other: Result | None = None) -> str:
    """The whole page; with another replay its figures beside each other."""
    return (
        environment()
        .get_template("replay.html")
        .render(
            result=result,
            happened=result.happened and happened.sentence(result.happened),
            other=other,
            title=what(result),
            beside=what(other) if other is not None else "",
            figures=list(headline(result, other)),
            sections=SECTIONS,
            waits=list(_waits(result, other)),
            teams=[
                Beside(one, _of(other.teams if other else (), one.name), [_queue(result, one.name)])
                for one in result.teams
            ],
            pools=[
                Beside(one, _of(other.pools if other else (), one.name), list(_pool(result, one)))
                for one in result.pools
            ],
            deciders=list(deciders(result)),
        )
    )


def _of(rows: Sequence[TeamUse] | Sequence[PoolUse], name: str) -> TeamUse | PoolUse | None:
    return next((one for one in rows if one.name == name), None)


def _waits(result: Result, other: Result | None) -> Iterator[tuple[str, Waits, Waits | None]]:
    yield "all jobs", result.waits, other.waits if other else None
    for name, one in result.by_class.items():
        yield name, one, other.by_class.get(name) if other else None


def _queue(result: Result, team: str) -> Chart:
    return chart(result.seconds, "waiting jobs", [("warn", result.timeline.pending.get(team, []))])


def _pool(result: Result, one: PoolUse) -> Iterator[Chart]:
    line = result.timeline
    yield chart(
        result.seconds,
        f"{one.unit} of its nodes, and of running jobs",
        [("paid", line.paid.get(one.name, [])), ("gpu", line.busy.get(one.name, []))],
    )
    yield chart(result.seconds, "nodes", [("cpu", line.nodes.get(one.name, []))])
    yield chart(result.seconds, "USD an hour", [("accent", line.usd.get(one.name, []))])


def chart(seconds: float, title: str, series: Sequence[tuple[str, Sequence[float]]]) -> Chart:
    """A chart of one or two series over some seconds."""
    top = max((value for _, values in series for value in values), default=0.0)
    areas = [(colour, area(values, top)) for colour, values in series]
    return Chart(title, top, areas, list(_marks(seconds)), list(_points(seconds, [values for _, values in series])))


def _marks(seconds: float) -> Iterator[tuple[float, str]]:
    step = next((one for one in _ROUND if seconds <= one * _MARKS), _ROUND[-1])
    for at in range(step, int(seconds), step):
        yield 100 * at / seconds, duration(at)


def _points(seconds: float, series: Sequence[Sequence[float]]) -> Iterator[tuple[float, str]]:
    """Columns with the most that each series has there, the one in front first."""
    count = min(map(len, series))
    size = max(1, count // _POINTS)
    for at in range(0, count, size):
        most = " of ".join(f"{max(values[at : at + size]):.3g}" for values in reversed(series))
        yield at * WIDTH / count, f"{duration(seconds * at / count)}: {most}"


def area(values: Sequence[float], top: float) -> str:
    """The path of a filled series of steps."""
    if not values or not top:
        return ""
    width = WIDTH / len(values)
    parts = [f"M0 {HEIGHT}"]
    for number, value in enumerate(values):
        parts.append(f"V{HEIGHT - value / top * (HEIGHT - 4):.1f}H{(number + 1) * width:.1f}")
    return f"{''.join(parts)}V{HEIGHT}Z"


@cache
def environment(*packages: str) -> Environment:
    """Templates of the replay's page and of the report, below those of other packages."""
    names = (*packages, "slipway.replay", "slipway.report")
    found = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in names]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters.update(duration=duration, dollars=dollars, share=percent, sentence=sentence)
    found.globals.update(width=WIDTH, height=HEIGHT)
    return found

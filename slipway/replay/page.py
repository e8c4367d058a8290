"""A replay as an HTML page: one file without scripts that makes no network requests, with the style of the report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from slipway.replay.figures import deciders, dollars, duration, headline, percent, what
from slipway.replay.result import PoolUse, Result, TeamUse, Waits
from slipway.report.page import sentence

WIDTH: Final = 640
HEIGHT: Final = 90
"""Size of a chart's own coordinates; it is drawn as wide as the page allows."""
SECTIONS: Final = {
    "waits": "Waits",
    "teams": "Teams and queues",
    "pools": "Pools, nodes and money",
    "longest": "Longest waits",
    "about": "What decided, and what was assumed",
}


@dataclass(frozen=True)
class Chart:
    """An amount over time.

    Attributes:
        title: What is drawn.
        top: Value at its upper edge.
        areas: Filled shapes by their colour's name, as the path of an SVG; the first is behind the others.
        days: Positions of the days' limits.
    """

    title: str
    top: float
    areas: Sequence[tuple[str, str]]
    days: Sequence[float]


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
    return chart(result, "waiting jobs", [("warn", result.timeline.pending.get(team, []))])


def _pool(result: Result, one: PoolUse) -> Iterator[Chart]:
    line = result.timeline
    yield chart(
        result,
        f"{one.unit} of its nodes, and of running jobs",
        [("paid", line.paid.get(one.name, [])), ("gpu", line.busy.get(one.name, []))],
    )
    yield chart(result, "nodes", [("cpu", line.nodes.get(one.name, []))])
    yield chart(result, "USD an hour", [("accent", line.usd.get(one.name, []))])


def chart(result: Result, title: str, series: Sequence[tuple[str, Sequence[float]]]) -> Chart:
    """A chart of one or two series."""
    top = max((value for _, values in series for value in values), default=0.0)
    areas = [(colour, area(values, top)) for colour, values in series]
    return Chart(title, top, areas, days(result.seconds))


def days(seconds: float) -> list[float]:
    """Positions of the limits of days in a chart of this length."""
    return [at * WIDTH / seconds for at in range(86_400, int(seconds), 86_400)]


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

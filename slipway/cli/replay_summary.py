"""The result of a replay for a terminal: one screen."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from slipway.cli.output import table
from slipway.replay.figures import deciders, dollars, headline, percent, what
from slipway.replay.happened import sentence
from slipway.replay.result import Result, Waits
from spec.quantities import duration

WIDTH: Final = 100
_SHOWN: Final = 3  # longest waits and notes that are shown; replay.json and the page have all


def text(result: Result, other: Result | None = None) -> str:
    """The summary; with another replay its figures beside each other."""
    return "\n".join(_lines(result, other))


def _lines(result: Result, other: Result | None) -> Iterator[str]:
    if result.happened is not None:
        yield from textwrap.wrap(sentence(result.happened), WIDTH)
    yield from textwrap.wrap(result.left_out.sentence, WIDTH)
    if other is not None and other.left_out.jobs:
        yield from textwrap.wrap(f"Of the other: {other.left_out.sentence}", WIDTH)
    yield _short(what(result))
    yield from textwrap.wrap(f"decided by {'; '.join(deciders(result))}", WIDTH)
    if result.cut:
        yield f"CUT by {result.cut_by} at {duration(result.seconds)}: what follows is known so far"
    yield ""
    yield from _figures(result, other)
    yield ""
    yield table(list(_waits(result)), right=frozenset({1, 2, 3, 4, 5}))
    yield ""
    yield table(list(_pools(result)), right=frozenset(range(1, 7)))
    yield ""
    yield table(list(_teams(result)), right=frozenset(range(1, 6)))
    if result.longest:
        yield ""
        yield "longest waits"
    for one in result.longest[:_SHOWN]:
        ended = "" if one.started else ", and still waits"
        said = one.why or one.message or "its nodes had to start"
        yield _short(f"  {duration(one.waited)}{ended}: {one.job} ({one.team}, GPUs: {one.gpus:g})")
        yield from textwrap.wrap(said, WIDTH, initial_indent="    ", subsequent_indent="    ", max_lines=3)
    notes = list(_notes(result))
    if notes:
        yield ""
    yield from map(_short, notes[:_SHOWN])
    if len(notes) > _SHOWN:
        yield f"notes left out here: {len(notes) - _SHOWN}; --out has them"


def _notes(result: Result) -> Iterator[str]:
    unpriced = [one.name for one in result.pools if not one.priced and one.node_hours]
    if unpriced:
        yield f"no dated price for nodes of {', '.join(unpriced)}: they count as 0 USD"
    yield from result.trace.notes


def _figures(result: Result, other: Result | None) -> Iterator[str]:
    figures = list(headline(result, other))
    if other is not None:
        rows = [("", "this", "other"), *((one.name, one.value, one.other) for one in figures)]
        yield table(rows, right=frozenset({1, 2}))
        return
    half = (len(figures) + 1) // 2
    pairs = zip(figures[:half], [*figures[half:], None][:half], strict=True)
    yield table(
        [(a.name, a.value, " ", b.name if b else "", b.value if b else "") for a, b in pairs], right=frozenset({1, 4})
    )


def _waits(result: Result) -> Iterator[Sequence[str]]:
    yield "wait to the first start", "jobs", "mean", "median", "95 %", "longest"
    yield _wait("all jobs", result.waits)
    yield from (_wait(f"class {name}", one) for name, one in result.by_class.items())
    yield from (_wait(f"team {one.name}", one.waits) for one in result.teams)


def _wait(name: str, one: Waits) -> Sequence[str]:
    jobs = f"{one.jobs:,}" + (f" ({one.unstarted:,} wait)" if one.unstarted else "")
    return name, jobs, *map(duration, (one.mean, one.median, one.p95, one.longest))


def _pools(result: Result) -> Iterator[Sequence[str]]:
    yield "pool", "most nodes", "GPU hours", "busy", "node hours", "cost", "idle"
    for one in result.pools:
        busy = percent(one.gpu_hours_busy / one.gpu_hours_paid) if one.gpu_hours_paid else "-"
        nodes = f"{one.most_nodes:,} of {one.ceiling:,}"
        costs = (dollars(one.usd), dollars(one.idle_usd))
        yield one.name, nodes, f"{one.gpu_hours_paid:,.0f}", busy, f"{one.node_hours:,.0f}", *costs


def _teams(result: Result) -> Iterator[Sequence[str]]:
    yield "team", "finished", "GPU hours", "cost", "preempted", "GPU hours lost"
    for one in result.teams:
        counts = (f"{one.finished:,} of {one.jobs:,}", f"{one.gpu_hours:,.0f}", dollars(one.usd))
        yield one.name, *counts, f"{one.preempted:,}", f"{one.lost_gpu_hours:,.1f}"


def _short(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."

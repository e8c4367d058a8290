"""The table of figures in docs/guides/replay-figures.md, from the document of measured runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import le
from typing import Any, Final

from slipway.replay.figures import dollars, percent
from spec.quantities import duration
from tools.figures.measure import FIFO, PLAIN, SHIPPED, STATIC, key
from tools.figures.outcome import CLASSES

Column = Mapping[str, Any]
TITLES: Final = {
    STATIC: "static fleet of equal waits",
    PLAIN: "EKS with Karpenter",
    FIFO: "FIFO with backfill",
    SHIPPED: "shipped stack",
}


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _price(value: float) -> str:
    return f"${value:,.2f}"


def _wait(kind: str) -> Callable[[Column], float]:
    return lambda column: float(column["waits"][kind]["p95"])


def _of(name: str) -> Callable[[Column], float]:
    return lambda column: float(column[name])


COLUMNS: Final[tuple[tuple[str, Callable[[Column], float], Callable[[float], str]], ...]] = (
    ("a GPU hour of work", _of("usdPerGpuHour"), _price),
    *((f"{kind} waits", _wait(kind), duration) for kind in CLASSES),
    ("given up", _of("givenUp"), _whole),
    ("GPU hours of work", _of("workGpuHours"), _whole),
    ("lost", _of("lostGpuHours"), _whole),
    ("GPUs allocated", _of("allocatedShare"), percent),
    ("cost of nodes", _of("usd"), dollars),
)


def spread(values: Sequence[float], show: Callable[[float], str]) -> str:
    """The smallest and the largest value; one of them if they look alike."""
    low, high = show(min(values)), show(max(values))
    return low if low == high else f"{low} to {high}"


def dominating(run: Mapping[str, Any]) -> list[str]:
    """Baselines whose GPU hour of work costs less than the shipped stack's, and where no class waits longer."""
    at = [_of("usdPerGpuHour"), *map(_wait, CLASSES)]
    own = [value(run["columns"][SHIPPED]) for value in at]
    found = {name: [value(of) for value in at] for name, of in run["columns"].items() if name != SHIPPED}
    return [name for name, of in found.items() if of[0] < own[0] and all(map(le, of[1:], own[1:]))]


def tables(document: Mapping[str, Any]) -> str:
    """The tables of all stacks, as Markdown."""
    runs = sorted(document["runs"], key=key)
    return "\n\n".join("\n".join(_table(list(group))) for _, group in groupby(runs, key=lambda one: str(one["stack"])))


def _table(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    measured = spread_text(one["measured"] for one in runs)
    jobs = spread([one["jobs"] for one in runs], _whole)
    yield f"**Stack {runs[0]['stack']}**: {jobs} jobs, measured on {measured}."
    for run in runs:
        for name in run["cut"]:
            yield f"Load {run['load']:g}, seed {run['seed']} was cut: {TITLES[name]} {_cut(name, run)}."
    yield ""
    yield f"| load, seeds | | {' | '.join(label for label, _, _ in COLUMNS)} | of the fleet's |"
    yield "|---|---|" + "---:|" * (len(COLUMNS) + 1)
    for load, group in groupby(runs, key=lambda one: float(one["load"])):
        of = list(group)
        for name, title in ((name, title) for name, title in TITLES.items() if name in of[0]["columns"]):
            cells = [spread([value(one["columns"][name]) for one in of], show) for _, value, show in COLUMNS]
            first = f"{load:g}: {', '.join(str(one['seed']) for one in of)}"
            yield f"| {first} | {title} | {' | '.join(cells)} | {_relative(of, name)} |"


def _relative(runs: Sequence[Mapping[str, Any]], name: str) -> str:
    price = _of("usdPerGpuHour")
    return spread([price(one["columns"][name]) / price(one["columns"][STATIC]) for one in runs], _rounded)


def _rounded(share: float) -> str:
    return f"{100 * share:.0f} %"


def _cut(name: str, run: Mapping[str, Any]) -> str:
    days = f"after {run['days']:g} days"
    return f"{days}, and so are the other rows" if name == SHIPPED else "before the others ended"


def spread_text(values: Iterator[str]) -> str:
    """The first and the last of some texts in order."""
    every = sorted(set(values))
    return every[0] if len(every) == 1 else f"{every[0]} to {every[-1]}"


def decided(document: Mapping[str, Any]) -> Iterator[str]:
    """What decided, one line for each part; several if runs differ."""
    yield from sorted({line for one in document["runs"] for line in one["decided"]})


WINDOW: Final[tuple[tuple[str, str, Callable[[float], str]], ...]] = (
    ("jobs submitted", "submitted", _whole),
    ("jobs started", "started", _whole),
    ("mean wait", "meanWait", lambda value: f"{value:.1f} s"),
    ("preemptions", "preemptions", _whole),
    ("GPU hours", "gpuHours", lambda value: f"{value:.3f}"),
    ("node hours", "nodeHours", lambda value: f"{value:.3f}"),
    ("cost", "usd", _price),
)


def windows(document: Mapping[str, Any]) -> str:
    """The table of the windows that the sandbox ran too, as Markdown: in each cell the sandbox, then the replay."""
    every = document["windows"]
    titles = [f"seed {one['seed']}, from job {one['first']}" for one in every]
    rows = [("stack, times divided by", [f"{one['stack']}, {one['factor']:g}" for one in every])]
    rows += [
        (label, [f"{show(one['sandbox'][key])}, {show(one['replay'][key])}" for one in every])
        for label, key, show in WINDOW
    ]
    rows.append(("pairs admitted in the same order", [percent(one["sameOrder"]) for one in every]))
    rows.append(("jobs that started in one of the two", [str(len(one["startedInOne"])) for one in every]))
    rows.append(("length", [f"{one['seconds']:g} s" for one in every]))
    rows.append(("measured on", [one["measured"] for one in every]))
    wait = max(abs(one["sandbox"]["meanWait"] - one["replay"]["meanWait"]) for one in every)
    hours = max(abs(one["replay"]["gpuHours"] / one["sandbox"]["gpuHours"] - 1) for one in every)
    order = min(one["sameOrder"] for one in every)
    found = (
        f"Mean waits differ by at most {wait:.1f} s and GPU hours by at most {percent(hours)}, and at least"
        f" {percent(order)} of the pairs of jobs were admitted in the same order."
    )
    head = [f"| sandbox, replay | {' | '.join(titles)} |", "|---|" + "---:|" * len(every)]
    return "\n".join([*head, *(f"| {label} | {' | '.join(cells)} |" for label, cells in rows), "", found])


def text(document: Mapping[str, Any]) -> str:
    """The generated part of the page."""
    parts = "\n".join(f"- {line}" for line in decided(document))
    return f"{tables(document)}\n\nWhat decided, in what was replayed:\n\n{parts}"

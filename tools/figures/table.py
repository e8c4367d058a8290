"""The table of figures in docs/guides/replay-figures.md, from the document of measured runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from slipway.replay.figures import dollars, duration, percent
from tools.figures.measure import PLAIN, SHIPPED, STATIC, key
from tools.figures.outcome import CLASSES

Column = Mapping[str, Any]
TITLES: Final = {STATIC: "static fleet", PLAIN: "EKS with Karpenter", SHIPPED: "shipped stack"}


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _price(value: float) -> str:
    return f"${value:,.2f}"


def _wait(kind: str, statistic: str) -> Callable[[Column], float]:
    return lambda column: float(column["waits"][kind][statistic])


def _of(name: str) -> Callable[[Column], float]:
    return lambda column: float(column[name])


ROWS: Final[tuple[tuple[str, Callable[[Column], float], Callable[[float], str]], ...]] = (
    ("jobs submitted", _of("jobs"), _whole),
    ("jobs finished", _of("finished"), _whole),
    ("jobs given up", _of("givenUp"), _whole),
    ("wait, median", _wait("all", "median"), duration),
    ("wait, 95th percentile", _wait("all", "p95"), duration),
    *((f"wait of {kind}, median", _wait(kind, "median"), duration) for kind in CLASSES),
    *((f"wait of {kind}, 95th percentile", _wait(kind, "p95"), duration) for kind in CLASSES),
    ("GPUs allocated, of those paid for", _of("allocatedShare"), percent),
    ("GPUs asked for, of those paid for", _of("askedShare"), percent),
    ("GPU hours of work, without lost ones", _of("workGpuHours"), _whole),
    ("preemptions", _of("preemptions"), _whole),
    ("GPU hours lost", _of("lostGpuHours"), _whole),
    ("node hours", _of("nodeHours"), _whole),
    ("cost", _of("usd"), dollars),
    ("cost of a GPU hour of work", _of("usdPerGpuHour"), _price),
)


def spread(values: Sequence[float], show: Callable[[float], str]) -> str:
    """The smallest and the largest value; one of them if they look alike."""
    low, high = show(min(values)), show(max(values))
    return low if low == high else f"{low} to {high}"


def tables(document: Mapping[str, Any]) -> str:
    """The tables of all stacks and loads, as Markdown."""
    runs = sorted(document["runs"], key=key)
    return "\n\n".join(
        "\n".join(_table(list(group))) for _, group in groupby(runs, key=lambda one: (one["stack"], one["load"]))
    )


def _table(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    first = runs[0]
    seeds = ", ".join(str(one["seed"]) for one in runs)
    yield (
        f"**Stack {first['stack']}, load {first['load']:g}**: {spread([one['jobs'] for one in runs], _whole)} jobs, "
        f"seeds {seeds}, measured on {spread_text(one['measured'] for one in runs)}."
    )
    for run in runs:
        for name in run["cut"]:
            yield f"Seed {run['seed']} was cut: {TITLES[name]} {_cut(name, run)}."
    yield ""
    yield "| | " + " | ".join(TITLES.values()) + " |"
    yield "|---|" + "---:|" * len(TITLES)
    for label, value, show in ROWS:
        cells = (spread([value(one["columns"][name]) for one in runs], show) for name in TITLES)
        yield f"| {label} | {' | '.join(cells)} |"
    yield f"| cost, of that of the static fleet | 100 % | {' | '.join(_relative(runs, n) for n in (PLAIN, SHIPPED))} |"
    nodes = sorted({pool for one in runs for pool in one["fleet"]})
    fleet = "; ".join(f"{pool} {spread([one['fleet'].get(pool, 0) for one in runs], _whole)}" for pool in nodes)
    yield f"| nodes of the static fleet | {fleet} | | |"


def _relative(runs: Sequence[Mapping[str, Any]], name: str) -> str:
    shares = [one["columns"][name]["usd"] / one["columns"][STATIC]["usd"] for one in runs]
    return spread(shares, lambda share: f"{100 * share:.0f} %")


def _cut(name: str, run: Mapping[str, Any]) -> str:
    days = f"after {run['days']:g} days"
    return f"{days}, and so are the other columns" if name == SHIPPED else "before the others ended"


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
    return f"{tables(document)}\n\nWhat decided, in the two columns that were replayed:\n\n{parts}"

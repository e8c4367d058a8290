"""`python -m tools.figures.judge --trace FILE`: a window of a trace in the living sandbox, and the same one replayed.

The stack must be up in the sandbox with its charts, and have no nodes for jobs. All times of the window are divided by
a factor; those of controllers (time-outs, consolidation) are as they are. The result is kept beside the other figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from sandbox.nodes import ec2
from slipway.cli import cluster, offline
from slipway.cli.output import Progress
from slipway.replay import engine, generate, plan, readers
from slipway.replay.fold import Fold
from slipway.replay.generate import Shape
from slipway.replay.jobs import Trace
from slipway.replay.places import places
from slipway.replay.plan import Options, Plan
from spec.clock import today
from tools.figures.__main__ import MEASURED, write
from tools.figures.living import Side, Window
from tools.figures.measure import Stack, stack
from tools.figures.outcome import Watch

APART: Final = 1.0
"""Seconds that two admissions are apart at least, for their order to count: Kubernetes' times are whole seconds."""
SHORTEST: Final = 5.0  # seconds of the shortest job of a window: below it the polls are a part of it


def window(of: Stack, source: Trace, options: argparse.Namespace) -> Plan:
    """Some consecutive jobs of a resampled trace, with all times divided by the factor."""
    platform = of.platform
    every = generate.ceilings(places(platform), lambda team, pool: platform.teams[team].shares[pool].nominal_quota)
    shape = Shape(seed=options.seed, load=options.load, jobs=options.jobs)
    jobs = generate.resample(source, every, shape).jobs[options.first : options.first + options.count]
    shorter = (
        replace(
            one,
            submitted=(one.submitted - jobs[0].submitted) / options.factor,
            duration=float(round(max(one.duration / options.factor, SHORTEST))),
        )
        for one in jobs
    )
    launch = ec2.read(offline.require_running().home).launch_seconds
    chosen = Options(until=options.seconds, launch_seconds=launch)
    return plan.make(Trace(jobs=tuple(shorter), format="window"), platform, of.recording, chosen)


def as_submitted(planned: Plan, moments: Mapping[str, float]) -> Plan:
    """The jobs that the sandbox got, when it got them: a busy machine submits late."""
    jobs = [
        {**one, "submitted": max(0.0, moments[one["name"]])}
        for one in planned.document["jobs"]
        if one["name"] in moments
    ]
    ordered = sorted(jobs, key=lambda one: (one["submitted"], one["name"]))
    return replace(planned, document={**planned.document, "jobs": ordered})


def replayed(planned: Plan) -> Side:
    """The window by the engine."""
    side, watch, fold = Side(), Watch(planned), Fold(planned, stack="", source="", form="")
    for event in engine.run(planned.document, say=lambda _: None):
        watch.add(event)
        fold.add(event)
        moments = {"submitted": side.submitted, "admitted": side.admitted, "running": side.started}
        if event["kind"] in moments:
            moments[event["kind"]].setdefault(event["job"], float(event["t"]))
    found = fold.result()
    side.preemptions, side.gpu_hours = watch.preemptions, found.gpu_hours_busy
    side.node_hours, side.usd = found.node_hours, found.usd
    return side


def same_order(one: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    """The share of pairs of jobs that both sides admitted in the same order; None if there is no pair."""
    both = sorted(one.keys() & other.keys())
    pairs = [(one[a] - one[b], other[a] - other[b]) for a, b in combinations(both, 2)]
    clear = [(here, there) for here, there in pairs if abs(here) >= APART and abs(there) >= APART]
    return sum((here > 0) == (there > 0) for here, there in clear) / len(clear) if clear else None


def mean_wait(side: Side, end: float) -> float:
    """The mean wait of all submitted jobs; of one that has not started, until the end."""
    waits = [side.started.get(name, end) - at for name, at in side.submitted.items()]
    return sum(waits) / len(waits) if waits else 0.0


def compare(living: Side, other: Side, end: float) -> dict[str, Any]:
    """The figures of both sides, for the JSON document."""

    def figures(side: Side) -> dict[str, Any]:
        return {
            "submitted": len(side.submitted),
            "admitted": len(side.admitted),
            "started": len(side.started),
            "meanWait": round(mean_wait(side, end), 1),
            "preemptions": side.preemptions,
            "gpuHours": round(side.gpu_hours, 3),
            "nodeHours": round(side.node_hours, 3),
            "usd": round(side.usd, 2),
        }

    order = same_order(living.admitted, other.admitted)
    never = sorted(living.started.keys() ^ other.started.keys())
    return {
        "sandbox": figures(living),
        "replay": figures(other),
        "sameOrder": None if order is None else round(order, 4),
        "startedInOne": never,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a window in both, keep the result, and write the tables; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.figures.judge", description=__doc__)
    parser.add_argument("--trace", type=Path, metavar="FILE", required=True, help="the trace that is resampled")
    parser.add_argument("--stack", default="dev", help="a stack that is up in the sandbox")
    parser.add_argument("--load", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1000, help="jobs of the week (default: %(default)s)")
    parser.add_argument("--first", type=int, default=300, help="first job of the window (default: %(default)s)")
    parser.add_argument("--count", type=int, default=25, help="its number of jobs (default: %(default)s)")
    parser.add_argument("--factor", type=float, default=120.0, help="by which times are divided (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=300.0, help="length of the window (default: %(default)s)")
    options = parser.parse_args(arguments)
    of = stack(options.stack)
    planned = window(of, readers.read(options.trace, None), options)
    living = Window(cluster.of_sandbox(of.platform), planned, options.seconds, Progress()).run()
    other = replayed(as_submitted(planned, living.submitted))
    names = ("stack", "load", "seed", "jobs", "first", "count", "factor", "seconds")
    found = {**{name: getattr(options, name) for name in names}, **compare(living, other, options.seconds)}
    found["measured"] = today().isoformat()
    print(json.dumps(found, indent=1))
    for name, one in sorted(planned.jobs.items()):
        moments = (
            side.get(name, -1.0) for had in (living, other) for side in (had.submitted, had.admitted, had.started)
        )
        print(name, one.fit.place.name if one.fit else one.refused, *(f"{at:7.1f}" for at in moments))
    document: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    kept = [one for one in document["windows"] if [one[n] for n in names] != [found[n] for n in names]]
    document["windows"] = [*kept, found]
    write(document)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Replays one trace on a shipped stack and on the baselines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from slipway.cli.check import checked
from slipway.engine.project import find
from slipway.render.program import record_platform
from slipway.replay import engine, generate, plan
from slipway.replay.fold import Fold
from slipway.replay.generate import DAY, Shape
from slipway.replay.jobs import Trace
from slipway.replay.places import Place, places
from slipway.replay.plan import Options, Plan, offerings
from slipway.replay.steps import HOUR, percentile
from spec.quantities import CPU, MEMORY, parse
from spec.settings import Platform
from tools.figures.fleet import Request, smallest, starts
from tools.figures.outcome import Outcome, Paid, Watch, figures
from tools.figures.plain import fifo, plain, whole, whole_gpus

STATIC: Final = "static"
PLAIN: Final = "plain"
FIFO: Final = "fifo"
SHIPPED: Final = "shipped"
_MIB: Final = 2**20


@dataclass(frozen=True, kw_only=True)
class Case:
    """One trace on one stack."""

    stack: str
    load: float  # GPU time that the jobs ask for, of what the stack's pools can have at most
    seed: int  # of the trace; odd ones are for the check alone (ADR 0133)
    jobs: int
    days: int = 7  # days that are replayed


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A stack as the program makes it, once for all traces."""

    name: str
    platform: Platform
    recording: Any


def stack(name: str) -> Stack:
    """Read a stack file, and record its program."""
    platform = checked(find(Path.cwd()), name).platform
    return Stack(name=name, platform=platform, recording=record_platform(platform, stack=name))


def measure(case: Case, of: Stack, source: Trace, limit: int, say: Callable[[str], None]) -> dict[str, Any]:
    """The three columns of a case, for the JSON document.

    If a replay is cut, all columns are of the time until then.

    Args:
        source: The trace that is resampled.
        limit: Seconds of real time after which a replay is cut.
        say: Reports progress.
    """
    platform = of.platform
    every = generate.ceilings(places(platform), lambda team, pool: platform.teams[team].shares[pool].nominal_quota)
    trace = generate.resample(source, every, Shape(seed=case.seed, load=case.load, jobs=case.jobs, days=case.days))
    options = Options(until=float(case.days * DAY), max_wall_seconds=limit)
    planned = plan.make(trace, platform, of.recording, options)
    shipped, watch, decided = _replayed(planned, say)
    if watch.end < case.days * DAY:
        planned = replace(planned, document={**planned.document, "until": watch.end})
    other, other_watch, _ = _replayed(plain(planned, platform), say)
    queued, queued_watch, _ = _replayed(fifo(planned, platform), say)
    ends = {PLAIN: other_watch.end, FIFO: queued_watch.end}
    cut = {SHIPPED: watch.end < case.days * DAY, **{name: end < watch.end for name, end in ends.items()}}
    fleet, nodes = _static(planned, platform, watch.outcomes(), watch.end)
    return {
        "stack": case.stack,
        "load": case.load,
        "seed": case.seed,
        "jobs": case.jobs,
        "days": round(watch.end / DAY, 2),
        "cut": [name for name, was in cut.items() if was],
        "decided": decided,
        "fleet": nodes,
        "columns": {STATIC: fleet, PLAIN: other, FIFO: queued, SHIPPED: shipped},
    }


def _replayed(planned: Plan, say: Callable[[str], None]) -> tuple[dict[str, Any], Watch, list[str]]:
    watch, fold = Watch(planned), Fold(planned, stack="", source="", form="")
    for event in engine.run(planned.document, say=say):
        watch.add(event)
        fold.add(event)
    found = fold.result()
    paid = Paid(
        gpu_hours=found.gpu_hours_paid, allocated=found.gpu_hours_busy, usd=found.usd, node_hours=found.node_hours
    )
    decided = [f"{one.part}: {'model, ' if one.model else ''}{one.by}" for one in found.decided]
    return figures(watch.outcomes(), paid, watch.end, watch.preemptions), watch, decided


def _static(
    planned: Plan, platform: Platform, shipped: Sequence[Outcome], end: float
) -> tuple[dict[str, Any], dict[str, int]]:
    """The column of the static fleet, and its nodes by pool."""
    jobs: list[Outcome] = []
    nodes: dict[str, int] = {}
    paid = Paid(gpu_hours=0.0, allocated=0.0, usd=0.0, node_hours=0.0)
    kinds = {one.kind for one in shipped}
    targets = {kind: percentile(sorted(one.waited(end) for one in shipped if one.kind == kind), 95) for kind in kinds}
    for place in planned.places:
        size, price = _node(place, platform)
        requests, outcomes = _requests(planned, place, size, end)
        nodes[place.name] = count = smallest(requests, size, targets, end)
        used = 0.0
        for one, request, start in zip(outcomes, requests, starts(requests, count, size, end), strict=True):
            one.started = start
            if math.isfinite(start):
                one.ran = min(end, start + request.duration) - start
                one.finished = start + request.duration <= end
                used += one.ran * request.pods * request.each[0] / HOUR if place.parts else 0.0
        jobs += outcomes
        hours = count * end / HOUR
        paid = Paid(
            gpu_hours=paid.gpu_hours + (hours * size[0] if place.parts else 0.0),
            allocated=paid.allocated + used,
            usd=paid.usd + hours * price,
            node_hours=paid.node_hours + hours,
        )
    return figures(jobs, paid, end), nodes


def _node(place: Place, platform: Platform) -> tuple[tuple[int, ...], float]:
    """What a node of the fleet has, and its price: the cheapest type of the pool."""
    sold = min(offerings(whole(place.spec), platform), key=lambda one: float(one["usdPerHour"]))
    if place.parts:
        return (place.spec.gpu_count,), float(sold["usdPerHour"])
    has = sold["allocatable"]
    return (int(parse(has[CPU]) * 1000), int(parse(has[MEMORY]) / _MIB)), float(sold["usdPerHour"])


def _requests(planned: Plan, place: Place, node: tuple[int, ...], end: float) -> tuple[list[Request], list[Outcome]]:
    """The jobs of a pool in the order of their submission. A pod that asks for more than a node gets a whole one."""
    requests, outcomes = [], []
    for one in _submitted(planned, end):
        fit, job = one.fit, one.job
        if fit is None or fit.place.name != place.name:
            continue
        each: tuple[int, ...] = (whole_gpus(job),)
        if not place.parts:
            each = (int(parse(fit.requests[CPU]) * 1000), int(parse(fit.requests[MEMORY]) / _MIB))
        each = tuple(min(pair) for pair in zip(each, node, strict=True))
        requests.append(
            Request(submitted=job.submitted, duration=job.duration, pods=job.pods, each=each, kind=job.kind)
        )
        outcomes.append(Outcome(kind=job.kind, pool=place.name, gpus=job.gpus, submitted=job.submitted))
    return requests, outcomes


def _submitted(planned: Plan, end: float) -> Iterator[plan.Planned]:
    yield from (one for one in planned.jobs.values() if one.job.submitted < end)


def key(run: Mapping[str, Any]) -> tuple[str, float, int]:
    """By what one run replaces another one in the document."""
    return str(run["stack"]), float(run["load"]), int(run["seed"])

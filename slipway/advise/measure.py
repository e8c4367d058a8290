"""What a replay says of a stack: cost, work and waits, in the definitions of the published figures (ADR 0138)."""

import math
from collections.abc import Iterator, Mapping

from slipway.replay.plan import Plan, Planned
from slipway.replay.result import Document, LeftOut, Outcome, Result
from slipway.replay.steps import HOUR, waits
from spec.quantities import CPU, MEMORY, MI, parse

MORE = 0.01
"""Part of the jobs that a change may keep from running, or give less: one replay differs from the next by some."""
LEAST_WORK = 0.98  # part of the work that a change has to leave: with less, its cost is not that of the same work
STEADY = 0.5
"""Part of the time that a node runs from which a commitment to it is worth a question: it pays above a discount of the
rest. The catalog has no price of one."""
SECONDS = 60.0  # by what a wait may always become longer: less than a node takes to start


class Wait(Document):
    """Waits of some jobs, in seconds; of one that has not started, to the end of its days."""

    jobs: int
    mean: float
    p95: float


class Figures(Document):
    """A stack on some days of a trace."""

    usd: float
    """Cost of nodes for jobs in these days."""
    work: float
    """GPU hours that jobs have asked for and had, without those lost; CPU hours of finished jobs where none asks for
    a GPU."""
    usd_per_hour_of_work: float
    left_out: LeftOut
    short: int
    """Jobs whose pods get less GPU, CPU or memory than they ask for: the replay lets them run as long all the same."""
    preemptions: int
    waits: dict[str, Wait]
    """By `all`, `team NAME` and `class NAME`."""


def figures(result: Result, plan: Plan) -> Figures:
    """The figures of a replay."""
    jobs = list(zip(plan.jobs.values(), result.outcomes, strict=True))
    gpus = any(planned.job.gpu_millis for planned, _ in jobs)
    work = math.fsum(_gpu_hours(planned, one) if gpus else _cpu_hours(planned, one) for planned, one in jobs)
    groups: dict[str, list[float]] = {}
    for _, one in jobs:
        for name in ("all", *([f"team {one.team}"] if one.team else ()), f"class {one.job_class or 'none'}"):
            groups.setdefault(name, []).append(one.waited)
    found = {name: waits(group, []) for name, group in sorted(groups.items())}
    return Figures(
        usd=result.usd,
        work=work,
        usd_per_hour_of_work=result.usd / work if work else 0.0,
        left_out=result.left_out,
        short=sum(_short(planned) for planned, _ in jobs),
        preemptions=result.preemptions,
        waits={name: Wait(jobs=one.jobs, mean=one.mean, p95=one.p95) for name, one in found.items()},
    )


def _gpu_hours(planned: Planned, one: Outcome) -> float:
    """Hours of the GPUs that a job asks for, as the trace has them: a tenth of a GPU is 0.1, whatever it gets."""
    had = math.fsum(use.gpu_hours for use in one.uses.values()) - one.lost_gpu_hours
    return had / planned.gpus * planned.job.gpus if planned.gpus else 0.0


def _cpu_hours(planned: Planned, one: Outcome) -> float:
    return planned.job.pods * planned.job.cpu_millis / 1000 * planned.job.duration / HOUR if one.finished else 0.0


def _short(planned: Planned) -> bool:
    fit, job = planned.fit, planned.job
    if fit is None:
        return False
    cpu, memory = (parse(fit.requests[name]) for name in (CPU, MEMORY))
    return fit.gpus * 1000 < job.gpu_millis or cpu * 1000 < job.cpu_millis or memory < job.memory_mib * MI


def demand(plan: Plan) -> dict[str, dict[str, float]]:
    """GPU hours, or CPU hours of a CPU pool, that the jobs of a trace ask for, by pool and team."""
    found: dict[str, dict[str, float]] = {}
    for one in plan.jobs.values():
        if one.fit is not None:
            teams = found.setdefault(one.fit.place.name, {})
            each = float(one.fit.gpus) or one.job.cpu_millis / 1000
            teams[one.team] = teams.get(one.team, 0.0) + each * one.job.pods * one.job.duration / HOUR
    return found


def saved(before: Figures, after: Figures) -> float:
    """Part of the cost of an hour of work that a change saves; below 0 if it costs more."""
    return 1 - after.usd_per_hour_of_work / before.usd_per_hour_of_work


def objections(before: Figures, after: Figures, longer: float) -> Iterator[str]:
    """Why a change is no advice, whatever it saves.

    Args:
        before: The stack as it is.
        after: The changed one, with the same jobs.
        longer: Part by which the waits of all jobs, and the mean of each team and class, may become longer.
    """
    few = MORE * before.waits["all"].jobs
    if after.left_out.jobs > before.left_out.jobs + few:
        yield f"{after.left_out.jobs - before.left_out.jobs:,} more jobs can't run"
    if after.short > before.short + few:
        yield f"{after.short - before.short:,} more jobs get less than they ask for"
    if after.work < LEAST_WORK * before.work:
        yield f"{1 - after.work / before.work:.1%} less work is done"
    if _exceeds(before.waits["all"].p95, after.waits["all"].p95, longer):
        yield "the 95th percentile of all waits is longer"
    for name, was in before.waits.items():
        # A team of the stack that no job is given after the change is in `all`.
        if name in after.waits and _exceeds(was.mean, after.waits[name].mean, longer):
            yield f"the mean wait of {name} is longer"


def _exceeds(before: float, after: float, longer: float) -> bool:
    return after > before * (1 + longer) + SECONDS


def steady(result: Result, plan: Plan) -> Mapping[str, tuple[int, float]]:
    """By pool, how many on-demand nodes run most of the time, and the part of it that the last of them does."""
    found = {}
    for name, series in result.timeline.nodes.items():
        spec = plan.pools[name]
        for number in range(1, math.ceil(max(series, default=0)) + 1):
            runs = math.fsum(min(max(nodes - number + 1, 0.0), 1.0) for nodes in series) / len(series)
            if str(spec.market) == "on-demand" and runs >= STEADY:
                found[name] = (number, runs)
    return found

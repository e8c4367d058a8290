"""How near a replay comes to what happened, where its trace says when jobs started: waits, their order, GPUs in use."""

import math
from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from slipway.replay.jobs import Job
from slipway.replay.result import Happened, Outcome
from spec.quantities import duration

MOST_OFF: Final = 0.25  # part of the mean wait by which that of a job may differ from what it was
SLACK: Final = 300.0  # seconds that always may: about what a GPU node takes to start
LEAST_ORDER: Final = 0.9  # part of all pairs of jobs that must start in the order in which they did
MOST_MISSING: Final = 0.05  # part of the jobs that may be in no figure


def compared(jobs: Sequence[Job], outcomes: Sequence[Outcome]) -> Happened | None:
    """The replay of jobs beside what happened to them; None if the trace has no starts, or the replay none of them."""
    known = [(job.waited, job, one) for job, one in zip(jobs, outcomes, strict=True) if job.waited is not None]
    both = [(then, job, one) for then, job, one in known if one.started]
    if not both:
        return None
    off = math.fsum(abs(then - one.waited) for then, _, one in both) / len(both)
    return Happened(
        jobs=len(both),
        of=len(jobs),
        mean_wait=math.fsum(then for then, _, _ in both) / len(both),
        replayed_mean_wait=math.fsum(one.waited for _, _, one in both) / len(both),
        off=off,
        in_order=_in_order((job.submitted + then, job.submitted + one.waited) for then, job, one in both),
        most_gpus=_most((job.submitted + then, job) for then, job, _ in both),
        replayed_most_gpus=_most((job.submitted + one.waited, job) for _, job, one in both),
    )


def _in_order(starts: Iterable[tuple[float, float]]) -> float:
    """The part of the pairs of jobs that start in the same order both times; equal starts are in any order."""
    seen: list[float] = []
    right = 0
    for _, replayed in sorted(starts):
        right += bisect_right(seen, replayed)
        insort(seen, replayed)
    return right / math.comb(len(seen), 2) if len(seen) > 1 else 1.0


def _most(starts: Iterable[tuple[float, Job]]) -> float:
    """GPUs of the jobs that run at once, at most."""
    changes = [change for at, job in starts for change in ((at, job.gpus), (at + job.duration, -job.gpus))]
    now = most = 0.0
    for _, gpus in sorted(changes):
        now += gpus
        most = max(most, now)
    return round(most, 3)


def objections(found: Happened) -> Iterator[str]:
    """Why the replay is too far from what happened for advice."""
    if found.off > max(MOST_OFF * found.mean_wait, SLACK):
        yield f"the wait of a job differs by {duration(found.off)} on average"
    if found.in_order < LEAST_ORDER:
        yield f"only {found.in_order:.0%} of the pairs of jobs start in the order in which they did"
    if found.jobs < (1 - MOST_MISSING) * found.of:
        yield f"{found.of - found.jobs:,} of {found.of:,} jobs did not start here, or nobody knows when they did"


def sentence(found: Happened) -> str:
    """What a reader must know before any figure of the replay."""
    why = "; ".join(objections(found))
    return (
        f"Beside what happened: waits differ by {duration(found.off)} a job (mean {duration(found.mean_wait)}, here "
        f"{duration(found.replayed_mean_wait)}); {found.in_order:.0%} of the pairs of {found.jobs:,} jobs start in the "
        f"same order; at most {found.most_gpus:g} GPUs were in use, here {found.replayed_most_gpus:g}. "
        + (f"So this week is NOT reproduced, and no advice is given: {why}." if why else "So this week is reproduced.")
    )

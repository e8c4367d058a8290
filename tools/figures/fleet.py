"""The first baseline: a static fleet of whole nodes, first come, first served.

A fleet for each pool: jobs name a GPU model, so that the pools don't compete. Nodes are paid for the whole time. Each
pod gets whole GPUs of one node. The job that came first starts first: none overtakes it, even if it would fit. There is
no preemption.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from slipway.replay.steps import percentile


@dataclass(frozen=True, kw_only=True)
class Request:
    """A job, as the fleet sees it."""

    submitted: float  # seconds after the start
    duration: float  # seconds that it runs
    pods: int  # its pods, which start together
    each: tuple[int, ...]  # what each pod takes of a node: GPUs, or thousandths of a CPU and MiB of memory
    kind: str = ""  # its class


def starts(jobs: Sequence[Request], nodes: int, node: tuple[int, ...], until: float) -> list[float]:
    """When each job starts; infinity for one that does not until the end.

    Args:
        until: Seconds after the start that end it.
    """
    free = [node] * nodes
    running: list[tuple[float, int, tuple[int, ...], tuple[int, ...]]] = []
    found: list[float] = []
    now = 0.0
    for number, job in enumerate(jobs):
        now = max(now, job.submitted)
        _end(running, free, now)
        while (placed := _place(job, free)) is None and running and now < until:
            now = running[0][0]
            _end(running, free, now)
        if placed is None or now >= until:
            # Nobody overtakes it: those behind it don't start either.
            return [*found, *(inf for _ in jobs[number:])]
        for at in placed:
            free[at] = tuple(has - takes for has, takes in zip(free[at], job.each, strict=True))
        heapq.heappush(running, (now + job.duration, number, placed, job.each))
        found.append(now)
    return found


def _end(
    running: list[tuple[float, int, tuple[int, ...], tuple[int, ...]]], free: list[tuple[int, ...]], now: float
) -> None:
    while running and running[0][0] <= now:
        _, _, placed, each = heapq.heappop(running)
        for at in placed:
            free[at] = tuple(has + took for has, took in zip(free[at], each, strict=True))


def _place(job: Request, free: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Nodes for all of its pods, the first that fit; a node is named once for each of its pods."""
    placed: list[int] = []
    for at, has in enumerate(free):
        fits = min(room // takes for room, takes in zip(has, job.each, strict=True) if takes)
        placed += [at] * min(fits, job.pods - len(placed))
        if len(placed) == job.pods:
            return tuple(placed)
    return None


def wait_p95(jobs: Sequence[Request], found: Sequence[float], until: float, kind: str = "") -> float:
    """The 95th percentile of waits of a class; of a job that has not started, its wait until the end."""
    every = zip(jobs, found, strict=True)
    waits = (min(start, until) - job.submitted for job, start in every if job.kind == kind)
    return percentile(sorted(waits), 95)


def smallest(jobs: Sequence[Request], node: tuple[int, ...], targets: Mapping[str, float], until: float) -> int:
    """The smallest number of nodes at which the 95th percentile of waits of each class is at most its target; 0 without
    jobs.

    Raises:
        ValueError: A pod of a job is larger than a node.
    """
    if not jobs:
        return 0
    if any(takes > has for job in jobs for takes, has in zip(job.each, node, strict=True)):
        msg = f"a pod is larger than a node with {node}"
        raise ValueError(msg)

    def enough(nodes: int) -> bool:
        found = starts(jobs, nodes, node, until)
        return all(wait_p95(jobs, found, until, kind) <= targets[kind] for kind in {job.kind for job in jobs})

    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high

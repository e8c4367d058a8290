"""Amounts that change in steps over virtual time, and statistics of waits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from slipway.replay.result import Waits

HOUR = 3600.0


@dataclass
class Steps:
    """An amount over time. Changes come in the order of their time."""

    value: float = 0.0
    most: float = 0.0
    changes: list[tuple[float, float]] = field(default_factory=list)

    def add(self, at: float, by: float) -> None:
        """Change the amount at a moment."""
        self.value += by
        self.changes.append((at, self.value))
        self.most = max(self.most, self.value)

    def averages(self, end: float, count: int) -> list[float]:
        """Averages over `count` steps of equal length from 0 to `end`."""
        sums = [0.0] * count
        width = end / count if end > 0 else 1.0
        value, since = 0.0, 0.0
        for at, after in (*self.changes, (end, 0.0)):
            until = min(at, end)
            if value and until > since:
                _spread(sums, value, since, until, width)
            value, since = after, max(since, until)
        return [round(amount / width, 4) for amount in sums]


def _spread(sums: list[float], value: float, since: float, until: float, width: float) -> None:
    first, last = int(since / width), min(len(sums) - 1, int(until / width))
    for number in range(first, last + 1):
        inside = min(until, (number + 1) * width) - max(since, number * width)
        if inside > 0:
            sums[number] += value * inside


def waits(started: Sequence[float], unstarted: Sequence[float]) -> Waits:
    """Statistics of waits."""
    every = sorted((*started, *unstarted))
    if not every:
        return Waits(jobs=0, unstarted=0, mean=0.0, median=0.0, p95=0.0, longest=0.0)
    return Waits(
        jobs=len(every),
        unstarted=len(unstarted),
        mean=round(math.fsum(every) / len(every), 3),
        median=round(percentile(every, 50), 3),
        p95=round(percentile(every, 95), 3),
        longest=round(every[-1], 3),
    )


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The smallest value that at least so many percent of the values don't exceed (nearest rank)."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]

"""Times of runs, on a machine that may have other things to do.

A bound in seconds holds on a machine that does nothing else. So every run is measured twice, by the clock and by the
processor time of all its processes, together with the share of the machine that other programs used meanwhile. The
clock counts, unless other programs used more than `BUSY` of the machine: then it says nothing about the program,
processor time counts instead, and the output says so.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Final

BUSY: Final = 0.2
"""Share of all processors. Of two, that is 0.4: more than an idle desktop takes, less than one busy program."""
Cpu = Callable[[], float]


@dataclass(frozen=True)
class Sample:
    """One run: seconds by the clock, seconds of processor, and the share of the machine (0 to 1) that others used."""

    wall: float
    cpu: float
    others: float = 0.0


@dataclass(frozen=True)
class Held:
    """The figure that counts, and by which of the two it was taken."""

    value: float
    how: str


@dataclass(frozen=True)
class Series:
    """Runs of the same thing."""

    samples: Sequence[Sample]

    @property
    def wall(self) -> float:
        """Median by the clock, in seconds."""
        return median(sample.wall for sample in self.samples)

    @property
    def cpu(self) -> float:
        """Median processor time, in seconds."""
        return median(sample.cpu for sample in self.samples)

    @property
    def others(self) -> float:
        """Median share of the machine that others used."""
        return median(sample.others for sample in self.samples)

    @property
    def held(self) -> Held:
        """Seconds, by the clock unless the machine was busy."""
        both = f"median of {len(self.samples)}: {self.wall:.2f} s by the clock, {self.cpu:.2f} s of processor"
        return _choose(self.wall, self.cpu, self.others, both)


@dataclass(frozen=True)
class Pairs:
    """Two things run in turn, A B A B, so that whatever else the machine does affects both."""

    first: Series
    second: Series

    @property
    def difference(self) -> Held:
        """How many seconds longer the first takes: the median over the pairs."""
        pairs = list(zip(self.first.samples, self.second.samples, strict=True))
        wall = median(first.wall - second.wall for first, second in pairs)
        cpu = median(first.cpu - second.cpu for first, second in pairs)
        both = f"median of {len(pairs)} pairs: {wall:.2f} s by the clock, {cpu:.2f} of processor"
        return _choose(wall, cpu, max(self.first.others, self.second.others), both)


def _choose(wall: float, cpu: float, others: float, both: str) -> Held:
    if others <= BUSY:
        return Held(wall, f"{both}; the clock counts")
    return Held(cpu, f"{both}, which counts: others used {others:.0%} of the machine")


def share_of_others(busy: float, own: float, wall: float, processors: int) -> float:
    """Share of the machine that others used, from the processor seconds of all processes and of our own."""
    return max(0.0, busy - own) / (wall * processors)


class Stopwatch:
    """Measures blocks of code; `own` and `machine` count processor seconds, `clock` real ones."""

    def __init__(self, own: Cpu, machine: Cpu, clock: Cpu, processors: int) -> None:
        self._own, self._machine, self._clock, self._processors = own, machine, clock, processors

    @contextmanager
    def measuring(self, into: list[Sample]) -> Iterator[None]:
        """Append the sample of the block; nothing where it fails."""
        wall, own, machine = self._clock(), self._own(), self._machine()
        yield
        wall, own, machine = self._clock() - wall, self._own() - own, self._machine() - machine
        into.append(Sample(wall, own, share_of_others(machine, own, wall, self._processors)))

"""How long to wait for something that may be slow: as long as it makes progress.

A fixed number of seconds fails on a busy machine, whatever it is: "not served after 120 s" and Helm's 300 s ended half
of the installations at load 10 to 54, each of which went further when it was repeated (2026-11). So time counts only
while nothing changes, and a look that took long counts as a short one: it says that the machine is busy.
"""

import time
from typing import Final

import psutil

COUNTED: Final = 3.0
"""Seconds that count of the time between two looks, if the second one was answered."""
LOOK_SECONDS: Final = 1.0
REQUEST_SECONDS: Final = 300.0
"""How long an API server takes for a read, instead of 60 s: a page of large CRDs takes longer on a busy machine. Writes
have 34 s, which no option changes (k8s.io/apiserver v0.36, pkg/endpoints/handlers/rest.go)."""
MOST: Final = 10
"""A wait ends after this many times its patience, whatever changes: two processes may change something for ever."""


class Patience:
    """The patience of one wait, in seconds without progress."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = self._last = time.monotonic()
        self._counted = 0.0
        self._sight: object = None
        self.quiet = 0.0
        """Seconds that count since the last change."""

    def look(self, sight: object = None, *, answered: bool = True) -> bool:
        """Take what is seen now; whether to wait on. What nobody answered is no progress, and took its full time."""
        now = time.monotonic()
        passed, self._last = now - self._last, now
        passed = min(passed, COUNTED) if answered else passed
        self._counted += passed
        self.quiet = 0.0 if answered and sight != self._sight else self.quiet + passed
        if answered:
            self._sight = sight
        return self.quiet < self._seconds and self._counted < MOST * self._seconds

    def __str__(self) -> str:
        """How long that was: `after 310 s, the last 120 of them without progress`."""
        passed = time.monotonic() - self._began
        quiet = min(self.quiet, passed)
        still = f", the last {quiet:.0f} of them without progress" if round(quiet) < round(passed) else ""
        return f"after {passed:.3g} s{still}" if passed < 1 else f"after {passed:.0f} s{still}"


class Work:
    """Seconds of the processor that a process and its children have had: what shows that a program works.

    An idle server has less than one in a minute, one that starts on a busy machine has more (2026-11).
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._looked = -LOOK_SECONDS
        self._seconds = 0

    def __call__(self) -> int:
        """As of the last look; looking goes through all processes of the machine."""
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._looked = time.monotonic()
            try:
                process = psutil.Process(self._pid)
                self._seconds = int(sum(map(_seconds, (process, *process.children(recursive=True)))))
            except psutil.NoSuchProcess:
                pass
        return self._seconds


def _seconds(process: psutil.Process) -> float:
    try:
        used = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(used.user + used.system)

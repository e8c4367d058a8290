"""How long a test waits for what another process or thread does, and a clock for what has to take too long."""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Final

import psutil

SECONDS: Final = 240.0
"""A machine with ten times as much work as processors takes minutes for what an idle one does in milliseconds. Every
wait ends as soon as its condition holds, so a long one costs nothing but where the test fails anyway. It is less than
the deadline of any test (`timeout` in pyproject.toml, tests/tiers.py)."""


def is_gone(pid: int) -> bool:
    """Whether a process ends within the time; a zombie counts as ended."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def wait_for(condition: Callable[[], object]) -> bool:
    """Whether the condition becomes true within the time."""
    deadline = time.monotonic() + SECONDS
    while not (met := bool(condition())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return met


def slowness() -> float:
    """How many times as much processor time as on the machine of the bounds the same work takes here; at least 1.

    The bounds in seconds of processor time are of a machine that takes 0.053 s for this loop (2026-11-23).
    """
    began, found = time.process_time(), dict.fromkeys(range(1000), 0)
    for number in range(300_000):
        found[number % 1000] += len(str(number))
    return max(1.0, (time.process_time() - began) / 0.053)


def too_long_once(happened: Callable[[], object]) -> SimpleNamespace:
    """A module `time` for a module whose limit a test wants to be over: as soon as something has happened, not sooner.

    From then on an hour passes between two looks at the clock.
    """
    late = 0

    def monotonic() -> float:
        nonlocal late
        late += 3600 if happened() else 0
        return time.monotonic() + late

    return SimpleNamespace(monotonic=monotonic, sleep=time.sleep)

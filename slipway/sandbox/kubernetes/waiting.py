"""Waiting for background work of the API server and of controllers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")
POLL_SECONDS: Final = 0.05
SLOW_POLL_SECONDS: Final = 0.5
"""Longest pause of a wait for a controller: twenty namespaces that are deleted together take 5 s each (2026-11)."""
_GROWTH: Final = 1.5


def until(
    poll: Callable[[], T | None], seconds: float, what: str | Callable[[], str], *, longest: float = POLL_SECONDS
) -> T:
    """The first result of `poll` that is not None.

    Pauses grow up to `longest` seconds. Raises TimeoutError with `what`, the unmet condition, or what it returns then.
    """
    deadline = time.monotonic() + seconds
    pause = POLL_SECONDS
    while True:
        answer = poll()
        if answer is not None:
            return answer
        if time.monotonic() > deadline:
            msg = f"{what if isinstance(what, str) else what()} after {seconds:g} s"
            raise TimeoutError(msg)
        time.sleep(pause)
        pause = min(longest, pause * _GROWTH)

"""Waiting for background work of the API server."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
POLL_SECONDS = 0.05


def until(poll: Callable[[], T | None], seconds: float, what: str) -> T:
    """The first result of `poll` that is not None. Raises TimeoutError with `what`, the unmet condition."""
    deadline = time.monotonic() + seconds
    while True:
        answer = poll()
        if answer is not None:
            return answer
        if time.monotonic() > deadline:
            msg = f"{what} after {seconds:g} s"
            raise TimeoutError(msg)
        time.sleep(POLL_SECONDS)

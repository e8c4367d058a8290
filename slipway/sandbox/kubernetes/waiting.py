"""Waiting for what the API server does in the background."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
POLL_SECONDS = 0.05


def until(found: Callable[[], T | None], seconds: float, what: str) -> T:
    """The first answer that is not None. Raises TimeoutError, saying what was waited for."""
    deadline = time.monotonic() + seconds
    while True:
        answer = found()
        if answer is not None:
            return answer
        if time.monotonic() > deadline:
            msg = f"{what} after {seconds:g} s"
            raise TimeoutError(msg)
        time.sleep(POLL_SECONDS)

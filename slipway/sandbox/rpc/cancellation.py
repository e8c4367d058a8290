"""Whether the engine cancelled the operation of the running call: what waits for long asks, and ends."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Final

_OF_CALL: Final[ContextVar[threading.Event | None]] = ContextVar("of_call", default=None)
"""The event of the connection whose call this thread answers; gRPC's threads answer one call at a time."""


def of_call(event: threading.Event) -> None:
    """From now on this thread works for the connection with this event."""
    _OF_CALL.set(event)


def cancelled() -> bool:
    """Whether the engine cancelled; False outside a provider's call."""
    event = _OF_CALL.get()
    return event is not None and event.is_set()

"""Errors of the sandbox and of what it runs, with texts for the user; and whether the engine cancelled a call."""

import re
import threading
from contextvars import ContextVar
from typing import Final

from spec.errors import SlipwayError

GOES_ON: Final = "the same command goes on from here"
"""In the error of a call that was repeated, on a busy machine, until the API server made no more progress."""
BUSY: Final = re.compile(
    r"did not complete within (the allotted|requested) timeout|context deadline exceeded|Client\.Timeout exceeded"
    r"|TLS handshake timeout|unable to handle the request|too many requests|failed to delete release"
    r"|etcdserver: (request timed out|leader changed|no leader)"
)
"""What an API server, its store and Helm say of a call that came too late (k8s.io/apiserver and apimachinery v0.36; go
1.26, net/http and context; etcd v3.5, rpctypes; helm v3.22, pkg/action/uninstall.go, which names no cause)."""


class ToolError(SlipwayError):
    """A tool is missing, has a wrong version, or could not be built. The text names the tool and the alternatives."""


class SandboxError(SlipwayError):
    """The sandbox can't do what was requested. The text says what is wrong, the value, and how to fix it; `busy` says
    whether a busy machine may be the reason."""

    busy = False


class AttemptError(SlipwayError):
    """One way to obtain a tool failed; another may work. The text is the reason; the final message lists all."""


# Whether the engine cancelled the operation of the running call: what waits for long asks, and ends.

_OF_CALL: Final[ContextVar[threading.Event | None]] = ContextVar("of_call", default=None)
"""The event of the connection whose call this thread answers; gRPC's threads answer one call at a time."""


def of_call(event: threading.Event) -> None:
    """From now on this thread works for the connection with this event."""
    _OF_CALL.set(event)


def cancelled() -> bool:
    """Whether the engine cancelled; False outside a provider's call."""
    event = _OF_CALL.get()
    return event is not None and event.is_set()

"""Which process a pid meant when it was written down.

The kernel gives a pid again to another process. A pid with the time at which its process was created is unique, so
nothing is ever signalled by its pid alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import psutil

TOLERANCE_SECONDS = 0.02
"""psutil derives the time from the boot time and clock ticks of 10 ms: a second look can differ by one tick."""


@dataclass(frozen=True)
class ProcessIdentity:
    """A process: what it is called here, its pid, and when it was created (seconds since the epoch)."""

    name: str
    pid: int
    create_time: float

    @classmethod
    def of(cls, name: str, pid: int) -> ProcessIdentity:
        """The identity of a running process. Raises psutil.NoSuchProcess where there is none."""
        return cls(name, pid, psutil.Process(pid).create_time())

    def find(self) -> psutil.Process | None:
        """The process, None when it has ended or when its pid belongs to another one by now."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.create_time) <= TOLERANCE_SECONDS
            return process if same and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None


def end(identities: Iterable[ProcessIdentity], grace_seconds: float = 5.0) -> tuple[ProcessIdentity, ...]:
    """Terminate those that still run, kill those that outlive the grace; returns the ones that had been running."""
    found = [(identity, process) for identity in identities if (process := identity.find()) is not None]
    for _, process in found:
        _signal(process.terminate)
    _, alive = psutil.wait_procs([process for _, process in found], timeout=grace_seconds)
    for process in alive:
        _signal(process.kill)
    psutil.wait_procs(alive, timeout=grace_seconds)
    return tuple(identity for identity, _ in found)


def _signal(send: Callable[[], None]) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        send()

"""Which process a pid meant when it was written down.

The kernel gives a pid again to another process. A pid with the time at which its process was created is unique, so
nothing is ever signalled by its pid alone.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import psutil

POLL_SECONDS = 0.02
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
    found = tuple(identity for identity in identities if identity.find() is not None)
    for identity in found:
        _signal(identity, signal.SIGTERM)
    alive = _outliving(found, grace_seconds)
    for identity in alive:
        _signal(identity, signal.SIGKILL)
    _outliving(alive, grace_seconds)
    return found


def _outliving(identities: Sequence[ProcessIdentity], seconds: float) -> list[ProcessIdentity]:
    """Those that still run after so many seconds.

    Not `psutil.wait_procs`: it waits until a process is reaped too, for which the first process of a container may take
    its time (1.7 s of a stop in one, 2026-11).
    """
    deadline = time.monotonic() + seconds
    while (left := [each for each in identities if each.find() is not None]) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return left


def _signal(identity: ProcessIdentity, number: signal.Signals) -> None:
    process = identity.find()
    if process is not None:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)

"""Identifying a process by pid and creation time.

The kernel reuses pids. A pid together with its process's creation time is unique, so no process is signalled by its pid
alone.
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
"""psutil computes the time from the boot time and clock ticks of 10 ms: two readings can differ by one tick."""


@dataclass(frozen=True)
class ProcessIdentity:
    """A process: its name in messages, its pid, and when it was created (seconds since the epoch).

    `transient` says that it may end by itself.
    """

    name: str
    pid: int
    create_time: float
    transient: bool = False

    @classmethod
    def of(cls, name: str, pid: int) -> ProcessIdentity:
        """The identity of a running process. Raises psutil.NoSuchProcess if there is none."""
        return cls(name, pid, psutil.Process(pid).create_time())

    def find(self) -> psutil.Process | None:
        """The process; None if it has ended or another process has its pid."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.create_time) <= TOLERANCE_SECONDS
            return process if same and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None


def end(identities: Iterable[ProcessIdentity], grace_seconds: float = 5.0) -> tuple[ProcessIdentity, ...]:
    """Terminate running processes, kill those that outlive the grace period; returns those that were running."""
    running = tuple(identity for identity in identities if identity.find() is not None)
    for identity in running:
        _signal(identity, signal.SIGTERM)
    alive = _outliving(running, grace_seconds)
    for identity in alive:
        _signal(identity, signal.SIGKILL)
    _outliving(alive, grace_seconds)
    return running


def _outliving(identities: Sequence[ProcessIdentity], seconds: float) -> list[ProcessIdentity]:
    """The processes that are still running after so many seconds.

    Not `psutil.wait_procs`, which also waits until a process is reaped; the first process of a container may be slow to
    do that (1.7 s of a stop, 2026-11).
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

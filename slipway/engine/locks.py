"""Which process holds the lock of a stack in the sandbox's backend, and whether it is still running.

A killed CLI leaves its lock behind, and every later run is refused. The lock is a small JSON file with its owner's pid
and host and the time (pulumi v3.258.0, pkg/backend/diy/lock.go), enough to see whether the owner is alive.
"""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import psutil

CLOCK_TOLERANCE_SECONDS: Final = 2.0
"""A process created later than this after the lock was written can't be its owner. The kernel reports creation times
in clock ticks."""


@dataclass(frozen=True)
class Lock:
    """A lock on a stack."""

    path: Path
    pid: int
    host: str
    taken: datetime

    @property
    def owner_lives(self) -> bool:
        """Whether the process that took the lock is still running. A process on another host counts as running."""
        if self.host != socket.gethostname():
            return True
        try:
            process = psutil.Process(self.pid)
            created = process.create_time()
            zombie = process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False
        # The kernel may have reused the pid since.
        return not zombie and created <= self.taken.timestamp() + CLOCK_TOLERANCE_SECONDS

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.taken:%Y-%m-%d %H:%M:%S %Z}"


def locks(backend: Path, project: str, stack: str) -> tuple[Lock, ...]:
    """The locks on a stack in a backend directory, oldest first. A file that can't be read counts as no lock."""
    directory = backend / ".pulumi" / "locks" / "organization" / project / stack
    candidates = (_read(path) for path in directory.glob("*.json"))
    return tuple(sorted((lock for lock in candidates if lock), key=lambda lock: lock.taken))


def _read(path: Path) -> Lock | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Lock(path, int(content["pid"]), str(content["hostname"]), datetime.fromisoformat(content["timestamp"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None

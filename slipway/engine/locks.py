"""Whose lock is on a stack of the sandbox's backend, and whether that process is still there.

A CLI that is killed leaves its lock, and every later run is refused. The lock is a small JSON file with the pid, host
and time of its owner (pulumi v3.258.0, pkg/backend/diy/lock.go), so a dead owner can be told from a live one.
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
"""A process cannot have written a lock before it was created; its creation time is known to a clock tick."""


@dataclass(frozen=True)
class Lock:
    """A lock on a stack."""

    path: Path
    pid: int
    host: str
    taken: datetime

    @property
    def owner_lives(self) -> bool:
        """Whether the process that took the lock still runs. One on another host is taken for alive."""
        if self.host != socket.gethostname():
            return True
        try:
            process = psutil.Process(self.pid)
            created = process.create_time()
            zombie = process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False
        # The kernel may have given the pid to another process since.
        return not zombie and created <= self.taken.timestamp() + CLOCK_TOLERANCE_SECONDS

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.taken:%Y-%m-%d %H:%M:%S %Z}"


def locks(backend: Path, project: str, stack: str) -> tuple[Lock, ...]:
    """The locks on a stack in a backend directory, oldest first. A file that can't be read counts as no lock."""
    directory = backend / ".pulumi" / "locks" / "organization" / project / stack
    found = (_read(path) for path in directory.glob("*.json"))
    return tuple(sorted((lock for lock in found if lock), key=lambda lock: lock.taken))


def _read(path: Path) -> Lock | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Lock(path, int(content["pid"]), str(content["hostname"]), datetime.fromisoformat(content["timestamp"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None

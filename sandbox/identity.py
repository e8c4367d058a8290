"""Identifying processes: by pid, boot and start, and those behind a connection on loopback."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import psutil

POLL_SECONDS = 0.02
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_STARTED = 19
"""Field 22 of `/proc/PID/stat`, counted from the first field after the command's name."""
_STOPPED = (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)


@dataclass(frozen=True)
class ProcessIdentity:
    """A process."""

    name: str  # its name in messages
    pid: int  # its pid
    boot: str  # the boot of the system that it belongs to; empty where the system names none
    started: int  # when it started: clock ticks since boot on Linux, microseconds since the epoch elsewhere
    transient: bool = False  # whether it may end by itself

    @classmethod
    def of(cls, name: str, pid: int) -> ProcessIdentity:
        """The identity of a running process. Raises psutil.NoSuchProcess if there is none."""
        return cls(name, pid, boot(), _started(pid))

    @property
    def of_this_boot(self) -> bool:
        """Whether the system has not been restarted since."""
        return self.boot == boot()

    def find(self) -> psutil.Process | None:
        """The process, also while it is stopped (SIGSTOP); None if it has ended or another one has its pid."""
        try:
            if not self.of_this_boot or _started(self.pid) != self.started:
                return None
            process = psutil.Process(self.pid)
            return process if process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None

    @property
    def stopped(self) -> bool:
        """Whether it lives, but is stopped by SIGSTOP or a debugger, so that it answers nobody."""
        try:
            process = self.find()
            return process is not None and process.status() in _STOPPED
        except psutil.NoSuchProcess:
            return False


@cache
def boot() -> str:
    """An ID of this boot of the system; empty where it has none, so that only the start of a process counts."""
    try:
        if sys.platform == "linux":
            return _BOOT_ID.read_text(encoding="ascii").strip()
        command = ("/usr/sbin/sysctl", "-n", "kern.bootsessionuuid")
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _started(pid: int) -> int:
    if sys.platform == "linux":
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        except (FileNotFoundError, ProcessLookupError) as error:
            raise psutil.NoSuchProcess(pid) from error
        return int(fields[_STARTED])
    # psutil has no public form of it (7.2.2).
    raw: Any = psutil.Process(pid)
    return round(raw._proc.create_time(monotonic=True) * 1_000_000)


def end(identities: Iterable[ProcessIdentity], grace_seconds: float = 5.0) -> tuple[ProcessIdentity, ...]:
    """Terminate running processes, kill those that outlive the grace period; returns those that were running."""
    running = tuple(identity for identity in identities if identity.find() is not None)
    for identity in running:
        _signal(identity, signal.SIGTERM)
        # A stopped process gets no other signal than SIGKILL until it continues.
        _signal(identity, signal.SIGCONT)
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


# Whether a connection on loopback comes from a process of our own user.
#
# Every user of a machine can connect to 127.0.0.1, and the engine attaches to a provider by its port alone: its
# variable PULUMI_DEBUG_PROVIDERS has no place for a token or the path of a socket (pulumi v3.258.0,
# pkg/resource/plugin/provider_plugin.go, GetProviderAttachPort). The kernel knows the user of the other end: Linux
# lists it in /proc/net/tcp. Elsewhere, the connections of our own processes are looked through, which their user may
# do.

TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
"""The second has connections of clients that use IPv6 sockets for IPv4 addresses."""
_LOOPBACK: Final = ("0100007F", "0000000000000000FFFF00000100007F")
"""127.0.0.1 as the tables write it on little-endian machines, and mapped to IPv6 (Linux, net/ipv4/tcp_ipv4.c)."""
ROOT: Final = 0
REMEMBER_SECONDS: Final = 0.5
"""A call of the engine takes less than the look-up. A closed port may become another user's, but not at once."""


class Peers:
    """Looks up the user behind the ports that connect to a port of ours."""

    def __init__(self, remember: float = REMEMBER_SECONDS) -> None:
        self._remember = remember
        self._ours: dict[tuple[int, int], float] = {}

    def ours(self, port: int, server: int) -> bool:
        """Whether the connection from a port of 127.0.0.1 to a port of ours is of our user, or of root."""
        now = time.monotonic()
        if self._ours.get((port, server), 0.0) > now:
            return True
        user = owner(port, server)
        if user is None or user not in (os.getuid(), ROOT):
            self._ours.pop((port, server), None)
            return False
        self._ours[port, server] = now + self._remember
        return True


def owner(port: int, server: int) -> int | None:
    """The user of the process that is connected from a port of 127.0.0.1 to another; None if it can't be known."""
    if sys.platform == "linux":
        return next((user for table in TABLES for user in _listed(table, port, server)), None)
    return os.getuid() if _of_our_processes(port, server) else None


def _listed(table: Path, port: int, server: int) -> list[int]:
    """The users in a table of the kernel. Columns: number, local, remote, state, queues, timer, retries, user."""
    try:
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return []
    ends = [(f"{one}:{port:04X}", f"{one}:{server:04X}") for one in _LOOPBACK]
    rows = (line.split() for line in lines)
    return [int(row[7]) for row in rows if (row[1], row[2]) in ends]


def _of_our_processes(port: int, server: int) -> bool:
    for process in psutil.process_iter():
        try:
            if process.uids().real != os.getuid():
                continue
            connections = process.net_connections("tcp")
        except psutil.Error:
            continue
        if any(one.laddr and one.raddr and (one.laddr.port, one.raddr.port) == (port, server) for one in connections):
            return True
    return False

"""Whether a connection on loopback comes from a process of our own user.

Every user of a machine can connect to 127.0.0.1, and the engine attaches to a provider by its port alone: its variable
PULUMI_DEBUG_PROVIDERS has no place for a token or the path of a socket (pulumi v3.258.0,
pkg/resource/plugin/provider_plugin.go, GetProviderAttachPort). The kernel knows the user of the other end: Linux lists
it in /proc/net/tcp. Elsewhere, the connections of our own processes are looked through, which their user may do.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Final

import psutil

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

"""Free ports, for servers that can't choose one themselves."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TypeVar

from slipway.sandbox.cluster.process import PortTakenError

T = TypeVar("T")
ATTEMPTS = 4


def free_ports(count: int) -> tuple[int, ...]:
    """Distinct loopback ports that are free at this moment."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return tuple(each.getsockname()[1] for each in sockets)
    finally:
        for each in sockets:
            each.close()


def with_free_ports(count: int, start: Callable[[tuple[int, ...]], T]) -> T:
    """Start a server on free ports; retry on others if another process took one of them before the start."""
    for _ in range(ATTEMPTS - 1):
        try:
            return start(free_ports(count))
        except PortTakenError:
            continue
    return start(free_ports(count))

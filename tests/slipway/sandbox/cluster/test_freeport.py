from __future__ import annotations

import socket

import pytest

from slipway.sandbox.cluster.freeport import ATTEMPTS, free_ports, with_free_ports
from slipway.sandbox.cluster.process import PortTakenError

TAKEN = "address already in use"


def test_free_ports_are_distinct_and_usable() -> None:
    ports = free_ports(3)
    assert len(set(ports)) == 3
    for port in ports:
        with socket.socket() as server:
            server.bind(("127.0.0.1", port))


def test_a_start_is_retried_if_its_port_was_taken() -> None:
    tried: list[int] = []

    def start(ports: tuple[int, ...]) -> int:
        tried.append(ports[0])
        if len(tried) < 3:
            raise PortTakenError(TAKEN)
        return ports[0]

    assert with_free_ports(1, start) == tried[2]


def test_retries_of_a_start_are_limited() -> None:
    tried: list[int] = []

    def start(ports: tuple[int, ...]) -> None:
        tried.append(ports[0])
        raise PortTakenError(TAKEN)

    with pytest.raises(PortTakenError):
        with_free_ports(1, start)
    assert len(tried) == ATTEMPTS

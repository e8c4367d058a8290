"""One moto server for all tests, with an account for each module or test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from slipway.sandbox.aws import moto_server
from slipway.sandbox.aws.client import Aws, Clients
from tests.sandbox.aws.samples import World

_ACCOUNTS = itertools.count(100000000001)


@pytest.fixture(scope="session")
def clients() -> Iterator[Clients]:
    server = moto_server.start()
    yield Clients(server.endpoint)
    server.stop()


@pytest.fixture
def account() -> str:
    return str(next(_ACCOUNTS))


@pytest.fixture
def aws(clients: Clients, account: str) -> Aws:
    return Aws(clients, "us-west-2", account)


@pytest.fixture(scope="module")
def world(clients: Clients) -> World:
    """An account for all tests of a module: making one costs moto 0.3 s (EC2's images and offers)."""
    return World(Aws(clients, "us-west-2", str(next(_ACCOUNTS))))

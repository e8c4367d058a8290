"""One account for all tests of a module."""

from collections.abc import Iterator

import pytest

from sandbox.aws.client import Aws, Clients
from tests.sandbox.aws.samples import World
from tests.sandbox.conftest import forget


@pytest.fixture(scope="module")
def world(clients: Clients, accounts: Iterator[str]) -> Iterator[World]:
    """Creating an account takes moto 0.3 s (EC2's images and offerings)."""
    account = next(accounts)
    yield World(Aws(clients, "us-west-2", account))
    forget(account)

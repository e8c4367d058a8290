"""One account for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from slipway.sandbox.aws.client import Aws, Clients
from tests.slipway.sandbox.aws.samples import World


@pytest.fixture(scope="module")
def world(clients: Clients, accounts: Iterator[str]) -> World:
    """Creating an account takes moto 0.3 s (EC2's images and offerings)."""
    return World(Aws(clients, "us-west-2", next(accounts)))

"""One account for all tests of a module."""

from collections.abc import Iterator

import pytest

from sandbox.aws.client import Aws, Clients
from sandbox.aws.terraform.processes import TOOL
from sandbox.toolchain import locate
from sandbox.toolchain.tools import get
from tests.sandbox.aws.samples import World
from tests.sandbox.aws.samples.world import PROCESSES
from tests.sandbox.conftest import forget


@pytest.fixture(scope="session", autouse=True)
def processes() -> Iterator[None]:
    """The Terraform provider, which acts in nearly all of these tests."""
    if locate.search(get(TOOL)) is None:
        pytest.skip(f"{TOOL} is not built: `python -m sandbox.toolchain ensure {TOOL}` builds it")
    yield
    PROCESSES.stop()


@pytest.fixture(scope="module")
def world(clients: Clients, accounts: Iterator[str]) -> Iterator[World]:
    """Creating an account takes moto 0.3 s (EC2's images and offerings)."""
    account = next(accounts)
    yield World(Aws(clients, "us-west-2", account))
    forget(account)

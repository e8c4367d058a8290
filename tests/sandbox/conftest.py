"""One moto server and one API server for all tests; each test has its own account and namespace."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from moto.core.base_backend import BackendDict

from sandbox.aws.client import Aws, Clients
from sandbox.aws.moto import server as moto_server
from sandbox.aws.moto.server import MotoServer, send_to
from sandbox.cluster.process import Supervisor
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from tests.sandbox.plane import ControlPlane

_NAMESPACES = itertools.count(1)


@pytest.fixture(scope="session")
def moto() -> Iterator[MotoServer]:
    server = moto_server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def clients(moto: MotoServer) -> Clients:
    return Clients(moto.endpoint, send_to(moto.application))


@pytest.fixture(scope="session")
def accounts() -> Iterator[str]:
    """Accounts that no test has used yet."""
    return map(str, itertools.count(100000000001))


@pytest.fixture
def account(accounts: Iterator[str]) -> Iterator[str]:
    name = next(accounts)
    yield name
    forget(name)


def forget(account: str) -> None:
    """Removes what moto keeps of an account.

    With the accounts of 900 tests a worker has 4 GB, and `mock_aws` elsewhere takes 46 s to reset them (2026-11). Moto
    can only reset all accounts (5.2.5, core/base_backend.py).
    """
    services: Any = BackendDict
    for service in services._instances:
        service.pop(account, None)


@pytest.fixture
def aws(clients: Clients, account: str) -> Aws:
    return Aws(clients, "us-west-2", account)


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    """Its children end with the test."""
    supervisor = Supervisor()
    yield supervisor
    supervisor.stop_all()


@pytest.fixture
def client(plane: ControlPlane) -> KubeClient:
    return plane.client


@pytest.fixture
def namespace(client: KubeClient) -> str:
    """It is deleted with the API server: emptying a namespace lists the objects of every kind, 0.8 s (2026-11)."""
    ref = Ref("v1", "Namespace", f"test-{next(_NAMESPACES)}")
    client.apply(ref.as_object(), "test")
    return ref.name

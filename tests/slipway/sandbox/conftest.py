"""One moto server and one API server for all tests; each test has its own account and namespace."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from slipway.sandbox.aws.client import Aws, Clients
from slipway.sandbox.aws.moto import server as moto_server
from slipway.sandbox.aws.moto.in_process import send_to
from slipway.sandbox.aws.moto.server import MotoServer
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Ref
from tests.slipway.sandbox.plane import ControlPlane

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
def account(accounts: Iterator[str]) -> str:
    return next(accounts)


@pytest.fixture
def aws(clients: Clients, account: str) -> Aws:
    return Aws(clients, "us-west-2", account)


@pytest.fixture
def client(plane: ControlPlane) -> KubeClient:
    return plane.client


@pytest.fixture
def namespace(client: KubeClient) -> str:
    """It is deleted with the API server: emptying a namespace lists the objects of every kind, 0.8 s (2026-11)."""
    ref = Ref("v1", "Namespace", f"test-{next(_NAMESPACES)}")
    client.apply(ref.as_object(), "test")
    return ref.name

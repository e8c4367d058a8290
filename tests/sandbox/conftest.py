"""One control plane for all tests that need an API server; each test has a namespace of its own in it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Ref
from slipway.sandbox.kubernetes.removal import remove
from tests.sandbox.plane import CLUSTER, ControlPlane, start_plane

_NAMESPACES = itertools.count(1)


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    plane = start_plane(tmp_path_factory.mktemp("plane"))
    try:
        plane.pool.create(CLUSTER)
        yield plane
    finally:
        plane.supervisor.stop_all()


@pytest.fixture
def client(plane: ControlPlane) -> KubeClient:
    return plane.client


@pytest.fixture
def namespace(client: KubeClient) -> Iterator[str]:
    ref = Ref("v1", "Namespace", f"test-{next(_NAMESPACES)}")
    client.apply(ref.as_object(), "test")
    yield ref.name
    remove(client, ref)

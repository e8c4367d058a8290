"""Each test has a namespace of its own on the API server that all share."""

from __future__ import annotations

import itertools

import pytest

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Ref
from tests.sandbox.plane import ControlPlane

_NAMESPACES = itertools.count(1)


@pytest.fixture
def client(plane: ControlPlane) -> KubeClient:
    return plane.client


@pytest.fixture
def namespace(client: KubeClient) -> str:
    """Goes with the API server: to empty one asks for the objects of every kind, 0.8 s (2026-11)."""
    ref = Ref("v1", "Namespace", f"test-{next(_NAMESPACES)}")
    client.apply(ref.as_object(), "test")
    return ref.name

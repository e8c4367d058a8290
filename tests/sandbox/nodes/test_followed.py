"""Karpenter's objects, followed in the API server."""

from collections.abc import Mapping
from typing import Any

import pytest

from sandbox.kubernetes.objects import Ref
from sandbox.kubernetes.waiting import until
from sandbox.nodes.karpenter import Followed
from tests.sandbox.plane import ControlPlane, crd
from tests.support.definitions import define
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

POOL = Ref("karpenter.sh/v1", "NodePool", "cpu")


class Observer:
    def __init__(self) -> None:
        self.seen: list[tuple[str, str, str]] = []

    def object_changed(self, cluster: str, obj: Mapping[str, Any]) -> None:
        self.seen.append(("changed", cluster, obj["kind"]))

    def object_deleted(self, cluster: str, obj: Mapping[str, Any]) -> None:
        self.seen.append(("deleted", cluster, obj["kind"]))


def test_objects_are_reported_that_exist_that_change_and_that_are_deleted(plane: ControlPlane) -> None:
    client, observer = plane.client, Observer()
    define(client, [crd("karpenter.sh", "NodePool", {"weight": {"type": "integer"}}, namespaced=False)])
    client.apply({**POOL.as_object(), "spec": {"weight": 1}}, "test")
    followed = Followed(client, lambda: "slipway-dev", observer)
    followed.start()
    try:

        def expect(*seen: str) -> None:
            wanted = [(one, "slipway-dev", "NodePool") for one in seen]
            until(lambda: True if observer.seen == wanted else None, SECONDS, f"{observer.seen} is not {wanted}")

        expect("changed")
        client.apply({**POOL.as_object(), "spec": {"weight": 2}}, "test")
        expect("changed", "changed")
        client.delete(POOL)
        expect("changed", "changed", "deleted")
    finally:
        followed.stop()


def test_nothing_is_reported_of_a_cluster_that_is_not_ready(plane: ControlPlane) -> None:
    observer = Observer()
    followed = Followed(plane.client, lambda: None, observer)
    followed._changed("ADDED", POOL.as_object())
    assert observer.seen == []

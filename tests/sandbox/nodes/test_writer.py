from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from sandbox.kubernetes.objects import Ref, condition
from sandbox.kubernetes.waiting import until
from sandbox.nodes.karpenter import Followed
from sandbox.nodes.spec import NodeSpec, NodeWriter, Taint
from tests.sandbox.plane import CLUSTER, ControlPlane, crd
from tests.support.definitions import define
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

SPEC = NodeSpec(
    name="writer-0",
    owner="nodegroup/writer",
    instance_type="p4d.24xlarge",
    arch="amd64",
    kubernetes="1.35",
    capacity={"cpu": "96", "pods": "110", "nvidia.com/gpu": "8"},
    allocatable={"cpu": "95690m", "pods": "110", "nvidia.com/gpu": "8"},
    taints=(Taint("nvidia.com/gpu", "NoSchedule", "true"),),
)
REF = Ref("v1", "Node", "writer-0")


@pytest.fixture
def writer(plane: ControlPlane) -> Iterator[NodeWriter]:
    writer = NodeWriter(plane.targets.of_cluster)
    yield writer
    writer.remove(CLUSTER, SPEC.name)


def test_a_node_is_ready_with_only_its_own_taints(writer: NodeWriter, plane: ControlPlane) -> None:
    assert writer.write(CLUSTER, SPEC)
    live = plane.client.get(REF)
    assert live is not None
    assert live["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]
    assert condition(live, "Ready")["status"] == "True"
    assert live["status"]["capacity"]["nvidia.com/gpu"] == "8"


def test_a_node_without_taints_keeps_none(writer: NodeWriter, plane: ControlPlane) -> None:
    writer.write(CLUSTER, replace(SPEC, taints=()))
    live = plane.client.get(REF)
    assert live is not None
    assert live["spec"].get("taints", []) == []


def test_an_update_removes_what_the_spec_no_longer_has(writer: NodeWriter, plane: ControlPlane) -> None:
    writer.write(CLUSTER, replace(SPEC, labels={"old": "x"}))
    partitioned = {"cpu": "96", "pods": "110", "nvidia.com/mig-1g.5gb": "56"}
    writer.write(CLUSTER, replace(SPEC, labels={"new": "x"}, capacity=partitioned, allocatable=partitioned))
    live = plane.client.get(REF)
    assert live is not None
    assert "old" not in live["metadata"]["labels"]
    assert live["status"]["capacity"] == partitioned


def test_nothing_is_written_to_a_cluster_that_is_not_running(writer: NodeWriter) -> None:
    assert writer.write("nowhere", SPEC) is False
    writer.remove("nowhere", SPEC.name)


def test_the_pods_of_a_removed_node_go_with_it(writer: NodeWriter, plane: ControlPlane, namespace: str) -> None:
    writer.write(CLUSTER, SPEC)
    pod = Ref("v1", "Pod", "on-the-node", namespace)
    other = Ref("v1", "Pod", "elsewhere", namespace)
    for each, node in ((pod, SPEC.name), (other, "another-node")):
        spec = {"nodeName": node, "containers": [{"name": "main", "image": "x"}]}
        plane.client.apply({**each.as_object(), "spec": spec}, "test")
    writer.remove(CLUSTER, SPEC.name)
    assert plane.client.get(REF) is None
    assert plane.client.get(pod) is None
    assert plane.client.get(other) is not None


# Karpenter's objects, followed in the API server.


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

"""Nodes as objects of Kubernetes, and in a cluster."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from sandbox.kubernetes.objects import Ref, condition
from sandbox.kubernetes.waiting import until
from sandbox.nodes.karpenter import Followed
from sandbox.nodes.spec import NETWORK_NODE, OWNER, PLACEHOLDER_NODE, NodeSpec, NodeWriter, Taint, node
from tests.sandbox.plane import CLUSTER, ControlPlane, crd, existing
from tests.support.definitions import define
from tests.support.patience import SECONDS

SPEC = NodeSpec(
    name="a100-0",
    owner="nodegroup/a100",
    instance_type="p4d.24xlarge",
    arch="amd64",
    kubernetes="1.35",
    capacity={"cpu": "96", "pods": "110", "nvidia.com/gpu": "8"},
    allocatable={"cpu": "95690m", "pods": "110", "nvidia.com/gpu": "8"},
    labels={"accelerator": "nvidia-a100"},
    taints=(Taint("nvidia.com/gpu", "NoSchedule", "true"), Taint("plain", "NoExecute")),
    zone="us-east-1a",
)


def test_a_node_has_the_labels_of_its_pool_and_those_of_every_node_on_aws() -> None:
    labels = node(SPEC)["metadata"]["labels"]
    assert {key: value for key, value in labels.items() if not key.startswith(NETWORK_NODE)} == {
        "accelerator": "nvidia-a100",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "a100-0",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "p4d.24xlarge",
        "topology.kubernetes.io/zone": "us-east-1a",
        "topology.kubernetes.io/region": "us-east-1",
    }


def test_a_pool_cannot_claim_another_host_name() -> None:
    labels = node(replace(SPEC, labels={"kubernetes.io/hostname": "other"}))["metadata"]["labels"]
    assert labels["kubernetes.io/hostname"] == "a100-0"


def test_without_a_zone_there_are_no_topology_labels() -> None:
    labels = node(replace(SPEC, zone=""))["metadata"]["labels"]
    assert not [label for label in labels if label.startswith("topology.")]


def test_taints_have_the_form_of_kubernetes() -> None:
    assert node(SPEC)["spec"]["taints"] == [
        {"key": "nvidia.com/gpu", "effect": "NoSchedule", "value": "true"},
        {"key": "plain", "effect": "NoExecute"},
    ]


def test_a_node_is_ready_and_reports_its_resources() -> None:
    status = node(SPEC)["status"]
    conditions = {each["type"]: each["status"] for each in status["conditions"]}
    assert conditions == {"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"}
    assert (status["capacity"], status["allocatable"]) == (SPEC.capacity, SPEC.allocatable)


def test_equal_specs_give_equal_nodes_and_names_distinguish_instances() -> None:
    assert node(SPEC) == node(replace(SPEC))
    assert node(SPEC)["spec"]["providerID"] != node(replace(SPEC, name="a100-1"))["spec"]["providerID"]


def test_only_a_placeholder_node_is_annotated_as_one() -> None:
    assert node(SPEC)["metadata"]["annotations"] == {OWNER: "nodegroup/a100"}
    assert node(replace(SPEC, placeholder=True))["metadata"]["annotations"] == {
        OWNER: "nodegroup/a100",
        PLACEHOLDER_NODE: "true",
    }
    role = "node-role.kubernetes.io/placeholder"
    assert role in node(replace(SPEC, placeholder=True))["metadata"]["labels"]
    assert role not in node(SPEC)["metadata"]["labels"]


@pytest.mark.parametrize(
    ("kind", "layers"),
    [("p5.48xlarge", 3), ("p6-b200.48xlarge", 4), ("g6e.xlarge", 3), ("p5.4xlarge", 0), ("m7i.large", 0)],
)
def test_nodes_have_the_layers_of_the_network_that_ec2_reports_for_their_type(kind: str, layers: int) -> None:
    nodes = [
        node(replace(SPEC, name=name, instance_type=kind, zone=zone))["metadata"]["labels"]
        for name, zone in (("a", "us-east-1a"), ("b", "us-east-1a"), ("c", "us-east-1b"))
    ]
    first, same, other = ([one.get(f"{NETWORK_NODE}{layer}") for layer in range(1, layers + 1)] for one in nodes)
    assert first == same
    assert len({*first, *other} - {None}) == 2 * layers
    assert f"{NETWORK_NODE}{layers + 1}" not in nodes[0]


WRITTEN = replace(SPEC, name="writer-0", taints=(Taint("nvidia.com/gpu", "NoSchedule", "true"),))
REF = Ref("v1", "Node", "writer-0")


@pytest.fixture
def writer(plane: ControlPlane) -> Iterator[NodeWriter]:
    writer = NodeWriter(plane.targets.of_cluster)
    yield writer
    writer.remove(CLUSTER, WRITTEN.name)


@pytest.mark.sandbox
def test_a_node_is_ready_with_only_its_own_taints(writer: NodeWriter, plane: ControlPlane) -> None:
    assert writer.write(CLUSTER, WRITTEN)
    live = existing(plane.client, REF)
    assert live["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]
    assert condition(live, "Ready")["status"] == "True"
    assert live["status"]["capacity"]["nvidia.com/gpu"] == "8"


@pytest.mark.sandbox
def test_a_node_without_taints_keeps_none(writer: NodeWriter, plane: ControlPlane) -> None:
    writer.write(CLUSTER, replace(WRITTEN, taints=()))
    assert existing(plane.client, REF)["spec"].get("taints", []) == []


@pytest.mark.sandbox
def test_an_update_removes_what_the_spec_no_longer_has(writer: NodeWriter, plane: ControlPlane) -> None:
    writer.write(CLUSTER, replace(WRITTEN, labels={"old": "x"}))
    partitioned = {"cpu": "96", "pods": "110", "nvidia.com/mig-1g.5gb": "56"}
    writer.write(CLUSTER, replace(WRITTEN, labels={"new": "x"}, capacity=partitioned, allocatable=partitioned))
    live = existing(plane.client, REF)
    assert "old" not in live["metadata"]["labels"]
    assert live["status"]["capacity"] == partitioned


@pytest.mark.sandbox
def test_nothing_is_written_to_a_cluster_that_is_not_running(writer: NodeWriter) -> None:
    assert writer.write("nowhere", WRITTEN) is False
    writer.remove("nowhere", WRITTEN.name)


@pytest.mark.sandbox
def test_the_pods_of_a_removed_node_go_with_it(writer: NodeWriter, plane: ControlPlane, namespace: str) -> None:
    writer.write(CLUSTER, WRITTEN)
    pod = Ref("v1", "Pod", "on-the-node", namespace)
    other = Ref("v1", "Pod", "elsewhere", namespace)
    for each, name in ((pod, WRITTEN.name), (other, "another-node")):
        spec = {"nodeName": name, "containers": [{"name": "main", "image": "x"}]}
        plane.client.apply({**each.as_object(), "spec": spec}, "test")
    writer.remove(CLUSTER, WRITTEN.name)
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


@pytest.mark.sandbox
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


@pytest.mark.sandbox
def test_nothing_is_reported_of_a_cluster_that_is_not_ready(plane: ControlPlane) -> None:
    observer = Observer()
    followed = Followed(plane.client, lambda: None, observer)
    followed._changed("ADDED", POOL.as_object())
    assert observer.seen == []

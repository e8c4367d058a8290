from dataclasses import replace

import pytest

from sandbox.nodes.spec import NETWORK_NODE, OWNER, PLACEHOLDER_NODE, NodeSpec, Taint, node

SPEC = NodeSpec(
    name="a100-0",
    owner="nodegroup/a100",
    instance_type="p4d.24xlarge",
    arch="amd64",
    kubernetes="1.35",
    capacity={"cpu": "96", "nvidia.com/gpu": "8"},
    allocatable={"cpu": "95690m", "nvidia.com/gpu": "8"},
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

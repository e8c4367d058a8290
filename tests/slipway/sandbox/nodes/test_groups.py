from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.nodes.groups import RESOURCE_TAG, NodeGroup, node_name, nodes_of
from slipway.sandbox.nodes.spec import NodeSpec, Taint

ZONES = {"subnet-a": "us-east-1a", "subnet-b": "us-east-1b"}


def nodes(template: dict[str, Any] | None = None, tags: dict[str, str] | None = None, **inputs: Any) -> list[NodeSpec]:
    group = NodeGroup("system", {"instanceTypes": ["m7i.xlarge"], **inputs}, template, tags or {})
    return list(nodes_of(group, ZONES.get))


@pytest.mark.parametrize(
    ("scaling", "count", "placeholder"),
    [
        ({"desiredSize": 3, "minSize": 1}, 3, False),
        ({"desiredSize": 0, "minSize": 2}, 2, False),
        ({"desiredSize": 0, "minSize": 0, "maxSize": 9}, 1, True),
        ({}, 1, True),
    ],
)
def test_a_group_has_its_nodes_or_one_placeholder_node(scaling: dict[str, int], count: int, placeholder: bool) -> None:
    found = nodes(scalingConfig=scaling)
    assert len(found) == count
    assert {each.placeholder for each in found} == {placeholder}


def test_nodes_are_spread_over_the_zones_of_the_subnets() -> None:
    found = nodes(scalingConfig={"desiredSize": 3}, subnetIds=["subnet-a", "subnet-b", "subnet-gone"])
    assert [each.zone for each in found] == ["us-east-1a", "us-east-1b", "us-east-1a"]


def test_taints_are_converted_from_ekss_to_kubernetes_spelling() -> None:
    taints = [
        {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"},
        {"key": "spot", "effect": "PREFER_NO_SCHEDULE"},
        {"key": "drain", "effect": "NO_EXECUTE"},
    ]
    assert nodes(taints=taints)[0].taints == (
        Taint("nvidia.com/gpu", "NoSchedule", "true"),
        Taint("spot", "PreferNoSchedule"),
        Taint("drain", "NoExecute"),
    )


def test_labels_are_those_of_the_group_and_those_that_eks_adds() -> None:
    assert nodes(labels={"role": "system"}, capacityType="SPOT")[0].labels == {
        "role": "system",
        "eks.amazonaws.com/nodegroup": "system",
        "eks.amazonaws.com/capacityType": "SPOT",
    }


def test_resources_come_from_tags_of_the_auto_scaling_group() -> None:
    tags = {f"{RESOURCE_TAG}nvidia.com/mig-1g.5gb": "56", "k8s.io/cluster-autoscaler/enabled": "true"}
    found = nodes(tags=tags, instanceTypes=["p4d.24xlarge"])[0].capacity
    assert (found["nvidia.com/mig-1g.5gb"], found["nvidia.com/gpu"]) == ("56", "0")


def test_the_launch_template_supplements_the_group() -> None:
    template = {"InstanceType": "p5.48xlarge", "NetworkInterfaces": [{"InterfaceType": "efa"}]}
    (found,) = nodes_of(NodeGroup("block", {}, template), ZONES.get)
    assert found.instance_type == "p5.48xlarge"
    assert found.capacity["vpc.amazonaws.com/efa"] == "1"


def test_the_templates_disk_size_precedes_the_groups() -> None:
    template = {"BlockDeviceMappings": [{"Ebs": {"VolumeSize": 100}}]}
    assert nodes(template, diskSize=50)[0].capacity["ephemeral-storage"] == str(100 * 2**30)
    assert nodes(diskSize=50)[0].capacity["ephemeral-storage"] == str(50 * 2**30)


@pytest.mark.parametrize(
    ("pool", "expected"),
    [("system", "system-0"), ("My_Group", "my-group-0"), ("a.b", "a.b-0"), ("x" * 300, "x" * 240 + "-0")],
)
def test_node_names_are_valid_for_every_group_name(pool: str, expected: str) -> None:
    assert node_name(pool, 0) == expected

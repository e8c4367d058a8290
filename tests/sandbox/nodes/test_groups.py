"""Nodes of managed node groups, and facts about them."""

import base64
from dataclasses import replace
from typing import Any

import pytest

from sandbox.aws.client import Aws
from sandbox.nodes.groups import RESOURCE_TAG, MotoFacts, NodeGroup, Template, node_name, nodes_of, read_template
from sandbox.nodes.spec import NodeSpec, Taint
from tests.sandbox.aws.samples import World

ZONES = {"subnet-a": "us-east-1a", "subnet-b": "us-east-1b"}


def nodes(template: dict[str, Any] | None = None, tags: dict[str, str] | None = None, **inputs: Any) -> list[NodeSpec]:
    group = NodeGroup("system", {"instanceTypes": ["m7i.xlarge"], **inputs}, template, tags or {})
    return list(nodes_of(group, ZONES.get))


@pytest.mark.parametrize(("scaling", "count", "placeholder"), [
    ({"desiredSize": 3, "minSize": 1}, 3, False),
    ({"desiredSize": 0, "minSize": 2}, 2, False),
    ({"desiredSize": 0, "minSize": 0, "maxSize": 9}, 1, True),
    ({}, 1, True),
])  # fmt: skip
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


def test_the_zone_of_a_subnet_is_found_in_any_account_and_region(aws: Aws) -> None:
    elsewhere = replace(aws, region="eu-west-1")
    vpc = elsewhere.call("ec2", "create_vpc", CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    zone = {"AvailabilityZone": "eu-west-1b"}
    subnet = elsewhere.call("ec2", "create_subnet", VpcId=vpc, CidrBlock="10.0.1.0/24", **zone)["Subnet"]["SubnetId"]
    assert MotoFacts().zone_of(subnet) == "eu-west-1b"
    assert MotoFacts().zone_of("subnet-none") is None


def test_the_auto_scaling_group_of_a_node_group_is_found(aws: Aws) -> None:
    group = World(aws).scaling_group()
    (cluster,) = aws.call("eks", "list_clusters")["clusters"]
    (name,) = aws.call("eks", "list_nodegroups", clusterName=cluster)["nodegroups"]
    assert MotoFacts().asg_of(cluster, name) == group
    assert MotoFacts().asg_of(cluster, "none") is None
    assert MotoFacts().asg_of("none", name) is None


def test_subnets_are_selected_by_tags_or_by_id(aws: Aws) -> None:
    vpc = aws.call("ec2", "create_vpc", CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    made = {}
    for number, letter in enumerate("ab"):
        tags = [{"Key": "karpenter.sh/discovery", "Value": "of-subnets"}, {"Key": "letter", "Value": letter}]
        request = {"VpcId": vpc, "CidrBlock": f"10.0.{number}.0/24", "AvailabilityZone": f"{aws.region}{letter}"}
        tagged = [{"ResourceType": "subnet", "Tags": tags}]
        made[letter] = aws.call("ec2", "create_subnet", **request, TagSpecifications=tagged)["Subnet"]["SubnetId"]
    every = MotoFacts().subnets([{"tags": {"karpenter.sh/discovery": "of-subnets"}}])
    assert {(one.id, one.zone) for one in every} == {(id_, f"{aws.region}{letter}") for letter, id_ in made.items()}
    assert all(one.zone_id and one.region == aws.region for one in every)
    (first,) = MotoFacts().subnets([{"tags": {"karpenter.sh/discovery": "*", "letter": "a"}}])
    assert first.id == made["a"]
    (second,) = MotoFacts().subnets([{"id": made["b"]}])
    assert second.zone == f"{aws.region}b"
    assert MotoFacts().subnets([{"tags": {}}, {"tags": {"karpenter.sh/discovery": "another"}}]) == []


def encoded(text: str) -> dict[str, str]:
    return {"UserData": base64.b64encode(text.encode()).decode()}


@pytest.mark.parametrize("data", [None, {}, {"UserData": "no base64!"}, {"NetworkInterfaces": []}])
def test_an_empty_template_changes_nothing(data: dict[str, object] | None) -> None:
    assert read_template(data) == Template()


def test_adapters_of_either_kind_count_and_plain_interfaces_do_not() -> None:
    kinds = ["efa", "efa-only", "efa-only", "interface"]
    assert read_template({"NetworkInterfaces": [{"InterfaceType": kind} for kind in kinds]}).efa == 3


def test_the_disk_size_is_that_of_the_largest_volume() -> None:
    devices = [{"Ebs": {"VolumeSize": size}} for size in (4, 200)]
    assert read_template({"BlockDeviceMappings": devices}).disk_gib == 200


@pytest.mark.parametrize("text", [
    'spec:\n  kubelet:\n    flags: ["--max-pods=58"]',
    "[settings.kubernetes]\nmax-pods = 58\n",
    "spec:\n  kubelet:\n    config:\n      maxPods: 58",
])  # fmt: skip
def test_max_pods_is_read_from_every_form_of_user_data(text: str) -> None:
    assert read_template(encoded(text)).max_pods == 58


def test_a_raid_of_local_disks_is_detected() -> None:
    assert read_template(encoded("instance:\n  localStorage:\n    strategy: RAID0")).nvme_raid
    assert not read_template(encoded("instance: {}")).nvme_raid


def test_the_instance_type_of_a_capacity_block_is_read_from_the_template() -> None:
    assert read_template({"InstanceType": "p5.48xlarge"}).instance_type == "p5.48xlarge"

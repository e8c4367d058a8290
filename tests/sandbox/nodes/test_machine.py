import base64
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from components.addons.trainer import whole_node
from sandbox.aws.client import Aws
from sandbox.errors import SandboxError
from sandbox.nodes import ec2, machine
from sandbox.nodes.ec2 import Ec2, Refusal
from sandbox.nodes.groups import RESOURCE_TAG, MotoFacts, NodeGroup, Template, node_name, nodes_of, read_template
from sandbox.nodes.machine import Machine, karpenter_labels
from sandbox.nodes.spec import NodeSpec, Taint
from spec.catalog import instances, prices
from spec.pools.resolution import resolve_all
from spec.quantities import to_mebibytes
from tests.support.stacks import platform_of


def test_allocatable_is_capacity_minus_reservations() -> None:
    machine, kind = Machine("m7i.xlarge", max_pods=110), instances.get("m7i.xlarge")
    assert machine.capacity({}) == {
        "cpu": "4",
        "memory": "16384Mi",
        "pods": "110",
        "ephemeral-storage": str(20 * 2**30),
    }
    left = machine.allocatable({})
    assert left["cpu"] == f"{kind.allocatable_cpu_millis}m"
    assert left["memory"] == f"{kind.allocatable_memory_at(110)}Mi"


@pytest.mark.parametrize(
    ("labels", "extra", "expected"),
    [
        ({}, {}, {"nvidia.com/gpu": "8"}),
        ({"nvidia.com/mig.config": "all-disabled"}, {}, {"nvidia.com/gpu": "8"}),
        ({"nvidia.com/mig.config": "all-1g.5gb"}, {}, {"nvidia.com/gpu": "0", "nvidia.com/mig-1g.5gb": "56"}),
        (
            {"nvidia.com/mig.config": "all-balanced"},
            {},
            {
                "nvidia.com/gpu": "0",
                "nvidia.com/mig-1g.5gb": "16",
                "nvidia.com/mig-2g.10gb": "8",
                "nvidia.com/mig-3g.20gb": "8",
            },
        ),
        # The name of a stack's own layout contains its profiles, so that a group without tags has them too.
        (
            {"nvidia.com/mig.config": "slipway-1x1g.5gb.me-1x3g.20gb"},
            {},
            {"nvidia.com/gpu": "0", "nvidia.com/mig-1g.5gb.me": "8", "nvidia.com/mig-3g.20gb": "8"},
        ),
        # An unknown layout has no resources by its label; a tag or an overlay may add them.
        ({"nvidia.com/mig.config": "custom"}, {}, {"nvidia.com/gpu": "8"}),
        (
            {"nvidia.com/mig.config": "custom"},
            {"nvidia.com/mig-3g.20gb": "16"},
            {"nvidia.com/gpu": "0", "nvidia.com/mig-3g.20gb": "16"},
        ),
        ({"nvidia.com/device-plugin.config": "mps-4"}, {}, {"nvidia.com/gpu": "32"}),
        ({"nvidia.com/device-plugin.config": "custom"}, {}, {"nvidia.com/gpu": "8"}),
        # The tag or the overlay has the same resources as the label, and they are not multiplied again.
        ({"nvidia.com/device-plugin.config": "mps-4"}, {"nvidia.com/gpu": "32"}, {"nvidia.com/gpu": "32"}),
        (
            {"nvidia.com/mig.config": "all-2g.10gb", "nvidia.com/device-plugin.config": "time-slicing-2"},
            {},
            {"nvidia.com/gpu": "0", "nvidia.com/mig-2g.10gb": "48"},
        ),
    ],
)
def test_gpus_are_whole_or_partitioned_and_multiplied_by_sharing(
    labels: dict[str, str], extra: dict[str, str], expected: dict[str, str]
) -> None:
    capacity = Machine("p4d.24xlarge", extra=extra).capacity(labels)
    assert {name: value for name, value in capacity.items() if name.startswith("nvidia.com/")} == expected


def test_a_pod_with_everything_of_an_efa_node_fits_on_it() -> None:
    pool = resolve_all(platform_of("prod"))["h100"]
    room = Machine("p5.48xlarge", max_pods=pool.settings.max_pods, efa=32).allocatable({})
    wanted = whole_node(pool)
    assert room["hugepages-2Mi"] == "5120Mi"
    for name in ("memory", "hugepages-2Mi"):
        assert to_mebibytes(wanted[name]) <= to_mebibytes(room[name])
    assert "hugepages-2Mi" not in Machine("p5.48xlarge").capacity({})


def test_efa_adapters_are_counted() -> None:
    assert Machine("p5.48xlarge", efa=32).allocatable({})["vpc.amazonaws.com/efa"] == "32"
    assert "vpc.amazonaws.com/efa" not in Machine("p5.48xlarge").capacity({})


@pytest.mark.parametrize(
    ("name", "raid", "expected"),
    [("p4d.24xlarge", True, 8000 * 10**9), ("p4d.24xlarge", False, 200 * 2**30), ("m7i.large", True, 200 * 2**30)],
)
def test_ephemeral_storage_is_on_the_raid_of_local_disks(name: str, raid: bool, expected: int) -> None:
    assert Machine(name, disk_gib=200, nvme_raid=raid).capacity({})["ephemeral-storage"] == str(expected)


def test_a_type_outside_the_catalog_has_no_cpu_or_memory() -> None:
    machine = Machine("t3.medium")
    assert set(machine.capacity({})) == {"pods", "ephemeral-storage"}
    assert machine.allocatable({}) == machine.capacity({})
    assert machine.arch == "amd64"


def test_karpenter_labels_describe_gpus() -> None:
    labels = karpenter_labels(instances.get("p6-b200.48xlarge"))
    assert labels["karpenter.k8s.aws/instance-category"] == "p"
    assert labels["karpenter.k8s.aws/instance-generation"] == "6"
    assert labels["karpenter.k8s.aws/instance-family"] == "p6-b200"
    assert labels["karpenter.k8s.aws/instance-gpu-name"] == "b200"
    assert not [key for key in karpenter_labels(instances.get("c7i.large")) if "gpu" in key]


# What a user says about EC2, and what EC2 sells.


ONE_ZONE = Refusal("p5.48xlarge", "us-east-1a")


def test_without_a_file_everything_has_capacity(tmp_path: Path) -> None:
    assert ec2.read(tmp_path) == Ec2()


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    wanted = Ec2((ONE_ZONE, Refusal(capacity_type="spot")), 30.0).refuse(Refusal(zone="us-east-1b"))
    ec2.write(tmp_path, wanted)
    assert ec2.read(tmp_path) == wanted


def test_a_refusal_is_restored_by_one_that_covers_it() -> None:
    settings = Ec2().refuse(ONE_ZONE).refuse(ONE_ZONE).refuse(Refusal("g6.xlarge"))
    assert settings.restore(Refusal("p5.48xlarge")).refused == (Refusal("g6.xlarge"),)
    assert settings.restore(Refusal("p5.48xlarge", "us-east-1b")) == settings
    assert settings.restore(Refusal()).refused == ()


def test_a_file_that_is_not_ours_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / ec2.FILE).write_text('{"refused": [{"type": "p5.48xlarge"}]}')
    with pytest.raises(SandboxError, match=r"ec2.json can't be read"):
        ec2.read(tmp_path)


def test_a_refusal_says_what_it_covers() -> None:
    assert ONE_ZONE.text == "p5.48xlarge in us-east-1a"
    assert Refusal(capacity_type="spot").text == "every type, spot"


def test_types_have_the_prices_and_the_allocatable_resources_of_the_catalog() -> None:
    sold = {one["name"]: one for one in machine.types("us-east-1")}
    kind = instances.get("g6.2xlarge")
    found = sold[kind.name]
    assert kind.usd_per_hour is not None
    assert found["prices"]["on-demand"] == float(kind.usd_per_hour)
    discount = prices.SPOT.types[kind.name]
    assert found["prices"]["spot"] == float(kind.usd_per_hour * (Decimal(1) - discount))
    reserved = found["kubeReservedMiB"] + found["kubeReservedMiBPerPod"] * kind.max_pods + found["evictionMiB"]
    assert found["memoryMiB"] - reserved == kind.allocatable_memory_mib
    assert found["cpu"] * 1000 - found["kubeReservedMillis"] == kind.allocatable_cpu_millis
    assert found["labels"]["karpenter.k8s.aws/instance-gpu-name"] == "l4"


def test_a_type_that_the_region_does_not_sell_is_left_out() -> None:
    sold = {one["name"] for one in machine.types("us-east-1")}
    unpriced = {kind.name for kind in instances.ALL.values() if kind.usd_per_hour is None}
    assert unpriced
    assert not sold & unpriced
    assert sold <= {kind.name for kind in instances.ALL.values() if kind.offered_in("us-east-1") is not False}


# Nodes of managed node groups, and facts about them.


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


def test_the_zone_of_a_subnet_is_found_in_any_account_and_region(aws: Aws) -> None:
    elsewhere = replace(aws, region="eu-west-1")
    vpc = elsewhere.call("ec2", "create_vpc", CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    zone = {"AvailabilityZone": "eu-west-1b"}
    subnet = elsewhere.call("ec2", "create_subnet", VpcId=vpc, CidrBlock="10.0.1.0/24", **zone)["Subnet"]["SubnetId"]
    assert MotoFacts().zone_of(subnet) == "eu-west-1b"
    assert MotoFacts().zone_of("subnet-none") is None


def test_the_auto_scaling_group_of_a_node_group_is_found(aws: Aws) -> None:
    role = f"arn:aws:iam::{aws.account}:role/r"
    aws.call("eks", "create_cluster", name="of-facts", roleArn=role, resourcesVpcConfig={})
    named = {"clusterName": "of-facts", "nodegroupName": "system"}
    made = aws.call("eks", "create_nodegroup", **named, subnets=["s-1"], nodeRole=role)
    assert MotoFacts().asg_of("of-facts", "system") == made["nodegroup"]["resources"]["autoScalingGroups"][0]["name"]
    assert MotoFacts().asg_of("of-facts", "none") is None
    assert MotoFacts().asg_of("none", "system") is None


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


@pytest.mark.parametrize(
    "text",
    [
        'spec:\n  kubelet:\n    flags: ["--max-pods=58"]',
        "[settings.kubernetes]\nmax-pods = 58\n",
        "spec:\n  kubelet:\n    config:\n      maxPods: 58",
    ],
)
def test_max_pods_is_read_from_every_form_of_user_data(text: str) -> None:
    assert read_template(encoded(text)).max_pods == 58


def test_a_raid_of_local_disks_is_detected() -> None:
    assert read_template(encoded("instance:\n  localStorage:\n    strategy: RAID0")).nvme_raid
    assert not read_template(encoded("instance: {}")).nvme_raid


def test_the_instance_type_of_a_capacity_block_is_read_from_the_template() -> None:
    assert read_template({"InstanceType": "p5.48xlarge"}).instance_type == "p5.48xlarge"

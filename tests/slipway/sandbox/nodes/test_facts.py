from __future__ import annotations

from dataclasses import replace

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.nodes.facts import MotoFacts


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

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

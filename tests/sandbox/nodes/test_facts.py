from __future__ import annotations

from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from slipway.sandbox.nodes.facts import MotoFacts


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with mock_aws():
        yield


def test_the_zone_of_a_subnet_is_found_in_any_region() -> None:
    ec2 = boto3.client("ec2", region_name="eu-west-1")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24", AvailabilityZone="eu-west-1b")["Subnet"]["SubnetId"]
    assert MotoFacts().zone_of(subnet) == "eu-west-1b"
    assert MotoFacts().zone_of("subnet-none") is None


def test_the_auto_scaling_group_of_a_node_group_is_found() -> None:
    eks = boto3.client("eks", region_name="us-west-2")
    eks.create_cluster(name="dev", roleArn="arn:aws:iam::123456789012:role/r", resourcesVpcConfig={})
    group = eks.create_nodegroup(
        clusterName="dev", nodegroupName="system", subnets=["s-1"], nodeRole="arn:aws:iam::123456789012:role/r"
    )["nodegroup"]
    assert MotoFacts().asg_of("dev", "system") == group["resources"]["autoScalingGroups"][0]["name"]
    assert MotoFacts().asg_of("dev", "none") is None
    assert MotoFacts().asg_of("none", "system") is None

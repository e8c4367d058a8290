from typing import Any

import pytest

from sandbox.aws import provider
from sandbox.aws.client import Aws
from sandbox.rpc.wire import UNKNOWN

GROUP = {
    "clusterName": "main", "nodeGroupName": "gpu", "nodeRoleArn": "arn:aws:iam::123456789012:role/node",
    "subnetIds": ["subnet-1"], "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 2},
}  # fmt: skip
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
RULE = {"securityGroupId": "sg-1", "ipProtocol": "tcp"}
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


def check(aws: Aws, type_token: str, inputs: dict[str, Any]) -> dict[str, str]:
    return {f.property: f.reason for f in provider.check(aws, type_token, inputs)}


@pytest.mark.parametrize(
    ("type_token", "inputs", "name", "reason"),
    [
        (NODE_GROUP, {**GROUP, "amiType": "AL2023_X86_64_NVIDIA"}, "amiType", "did you mean 'AL2023_x86_64_NVIDIA'?"),
        (
            NODE_GROUP,
            {**GROUP, "scalingConfig": {"minSize": -1}},
            "scalingConfig.minSize",
            "greater than or equal to 0",
        ),
        (
            NODE_GROUP,
            {**GROUP, "taints": [{"effect": "NoSchedule"}]},
            "taints[0].effect",
            "did you mean 'NO_SCHEDULE'?",
        ),
        (INGRESS, RULE, "cidrIpv4", "exactly one of 'cidrIpv4', 'cidrIpv6',"),
        (
            INGRESS,
            {**RULE, "cidrIpv4": "10.0.0.0/8", "prefixListId": UNKNOWN},
            "cidrIpv4",
            "got 'cidrIpv4', 'prefixListId'",
        ),
        ("aws:sns/topicSubscription:TopicSubscription", {"topic": "t"}, "protocol", "Member must not be null"),
    ],
)
def test_what_aws_would_refuse_is_reported_before(
    aws: Aws, type_token: str, inputs: dict[str, Any], name: str, reason: str
) -> None:
    assert reason in check(aws, type_token, inputs)[name]


@pytest.mark.parametrize("name", sorted(GROUP))
def test_an_unknown_is_skipped_and_the_rest_is_checked(aws: Aws, name: str) -> None:
    inputs = {**GROUP, name: UNKNOWN, "capacityType": "SPOTTY"}
    assert set(check(aws, NODE_GROUP, inputs)) == {"capacityType"}


def test_an_idempotency_token_is_not_required(aws: Aws) -> None:
    assert check(aws, "aws:efs/fileSystem:FileSystem", {"encrypted": True}) == {}


def test_new_instance_types_are_not_refused(aws: Aws) -> None:
    assert check(aws, "aws:ec2/launchTemplate:LaunchTemplate", {"name": "gpu", "instanceType": "p9.48xlarge"}) == {}

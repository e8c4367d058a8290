"""What is refused of inputs at preview by AWS's models and the documentation, and names that a program omits."""

from typing import Any

import pytest

from sandbox.aws import naming, provider
from sandbox.aws.client import Aws
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.samples.world import known

NODES = {
    "clusterName": "main", "nodeGroupName": "gpu", "nodeRoleArn": "arn:aws:iam::123456789012:role/node",
    "subnetIds": ["subnet-1"], "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 2},
}  # fmt: skip
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
RULE = {"securityGroupId": "sg-1", "ipProtocol": "tcp"}
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


def check(aws: Aws, type_token: str, inputs: dict[str, Any]) -> dict[str, str]:
    return {f.property: f.reason for f in provider.check(aws, type_token, inputs)}


@pytest.mark.parametrize(("type_token", "inputs", "name", "reason"), [
    (NODE_GROUP, {**NODES, "amiType": "AL2023_X86_64_NVIDIA"}, "amiType", "did you mean 'AL2023_x86_64_NVIDIA'?"),
    (NODE_GROUP, {**NODES, "scalingConfig": {"minSize": -1}}, "scalingConfig.minSize", "greater than or equal to 0"),
    (NODE_GROUP, {**NODES, "taints": [{"effect": "NoSchedule"}]}, "taints[0].effect", "did you mean 'NO_SCHEDULE'?"),
    (INGRESS, RULE, "cidrIpv4", "exactly one of 'cidrIpv4', 'cidrIpv6',"),
    (INGRESS, {**RULE, "cidrIpv4": "10.0.0.0/8", "prefixListId": UNKNOWN}, "cidrIpv4",
        "got 'cidrIpv4', 'prefixListId'"),
    ("aws:sns/topicSubscription:TopicSubscription", {"topic": "t"}, "protocol", "Member must not be null"),
])  # fmt: skip
def test_what_aws_would_refuse_is_reported_before(
    aws: Aws, type_token: str, inputs: dict[str, Any], name: str, reason: str
) -> None:
    assert reason in check(aws, type_token, inputs)[name]


@pytest.mark.parametrize("name", sorted(NODES))
def test_an_unknown_is_skipped_and_the_rest_is_checked(aws: Aws, name: str) -> None:
    inputs = {**NODES, name: UNKNOWN, "capacityType": "SPOTTY"}
    assert set(check(aws, NODE_GROUP, inputs)) == {"capacityType"}


def test_an_idempotency_token_is_not_required(aws: Aws) -> None:
    assert check(aws, "aws:efs/fileSystem:FileSystem", {"encrypted": True}) == {}


def test_new_instance_types_are_not_refused(aws: Aws) -> None:
    assert check(aws, "aws:ec2/launchTemplate:LaunchTemplate", {"name": "gpu", "instanceType": "p9.48xlarge"}) == {}


# Names that a program omits.


ROLE = "aws:iam/role:Role"
BUCKET = "aws:s3/bucket:Bucket"


def named(kind: str, proposed: str = "", olds: dict[str, Any] | None = None, **news: Any) -> dict[str, Any]:
    resource = Resource(f"urn:pulumi:s::p::{kind}::a-thing", kind, "a-thing", proposed)
    return naming.with_name(known(kind), resource, news, olds or {}, b"seed")


@pytest.mark.parametrize(("kind", "key"), [(ROLE, "name"), (NODE_GROUP, "nodeGroupName"), (BUCKET, "bucket")])
def test_the_engines_proposal_is_used(kind: str, key: str) -> None:
    assert named(kind, "slipway-dev-a-thing-0a1b2c3")[key] == "slipway-dev-a-thing-0a1b2c3"


def test_a_proposal_is_truncated_and_lower_case_for_buckets() -> None:
    assert len(named(ROLE, "x" * 200)["name"]) == 64
    assert named(BUCKET, "Slipway-Dev")["bucket"] == "slipway-dev"


def test_a_generated_name_is_kept_despite_a_later_proposal() -> None:
    first = named(ROLE, "slipway-dev-a-thing-0a1b2c3")
    assert named(ROLE, "slipway-dev-a-thing-fffffff", olds=first)["name"] == first["name"]


def test_the_programs_own_name_is_kept() -> None:
    assert named(ROLE, "slipway-dev-a-thing-0a1b2c3", name="mine")["name"] == "mine"

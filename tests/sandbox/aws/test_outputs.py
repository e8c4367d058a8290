"""Outputs that a preview knows, and drift."""

from typing import Any
from unittest.mock import Mock

import pytest
from sandbox.aws.outputs import planned_change, planned_creation
from sandbox.aws.types import MAPPINGS

from sandbox.aws import drift, naming, provider
from sandbox.aws.client import Aws, AwsError
from sandbox.aws.kinds import Kind, ListOf, MapOf, Scalar
from sandbox.rpc.diff import DEFAULTS_KEY
from sandbox.rpc.errors import PartialFailureError
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.samples.world import known

# What a preview knows of the outputs, and what a failed update leaves of them.

CLUSTER, GROUP = "aws:eks/cluster:Cluster", "aws:ec2/securityGroup:SecurityGroup"
ALIAS, TEMPLATE = "aws:kms/alias:Alias", "aws:ec2/launchTemplate:LaunchTemplate"
SUBNETS = {"subnetIds": ["a"]}
LIVE = {**SUBNETS, "clusterSecurityGroupId": "sg-1", "vpcId": "vpc-1", "publicAccessCidrs": ["0.0.0.0/0"]}
DISK = {"deviceName": "/dev/xvda", "ebs": {"volumeSize": 100}}
FULL = {"deviceName": "/dev/xvda", "ebs": {"volumeSize": 100, "volumeType": "gp3"}}


def preview(type_token: str, olds: dict[str, Any], before: dict[str, Any], news: dict[str, Any]) -> dict[str, Any]:
    aws: Any = type("Aws", (), {"names": lambda _: {"region": "r", "account": "1", "partition": "aws"}})()
    return planned_change(aws, known(type_token), MAPPINGS[type_token], "id", olds, before, news)


@pytest.mark.parametrize(
    ("before", "news", "group", "ranges"),
    [
        (SUBNETS, {**SUBNETS, "publicAccessCidrs": ["192.0.2.0/24"]}, "sg-1", ["192.0.2.0/24"]),
        (SUBNETS, {"subnetIds": ["b"]}, "sg-1", ["0.0.0.0/0"]),
        # Taken back: AWS's default.
        ({**SUBNETS, "publicAccessCidrs": ["192.0.2.0/24"]}, SUBNETS, "sg-1", UNKNOWN),
        (SUBNETS, {**SUBNETS, "publicAccessCidrs": [UNKNOWN]}, "sg-1", [UNKNOWN]),
        (SUBNETS, SUBNETS, "sg-1", ["0.0.0.0/0"]),
    ],
)
def test_what_aws_added_to_an_object_stays(before: Any, news: Any, group: str, ranges: Any) -> None:
    shown = preview(CLUSTER, {"vpcConfig": LIVE, "endpoint": "https://e"}, {"vpcConfig": before}, {"vpcConfig": news})
    assert (shown["vpcConfig"]["clusterSecurityGroupId"], shown["vpcConfig"]["publicAccessCidrs"]) == (group, ranges)
    assert shown["endpoint"] == "https://e"


def test_what_the_program_never_set_is_known_and_what_it_takes_back_is_not() -> None:
    olds = {"version": "1.35", "vpcConfig": LIVE, "enabledClusterLogTypes": ["api"]}
    before = {"vpcConfig": SUBNETS, "enabledClusterLogTypes": ["api"]}
    shown = preview(CLUSTER, olds, before, {"vpcConfig": SUBNETS})
    assert (shown["version"], shown["enabledClusterLogTypes"]) == ("1.35", UNKNOWN)


def test_an_imported_value_that_the_program_does_not_set_is_known() -> None:
    before = {"vpcConfig": LIVE, "version": "1.35", DEFAULTS_KEY: ["version", "vpcConfig"]}
    shown = preview(CLUSTER, {"version": "1.35", "vpcConfig": LIVE}, before, {"vpcConfig": {"subnetIds": ["b"]}})
    assert (shown["version"], shown["vpcConfig"]["clusterSecurityGroupId"]) == ("1.35", "sg-1")


def test_an_object_in_a_list_is_known_by_what_the_program_sets_of_it() -> None:
    olds = {"blockDeviceMappings": [FULL]}
    other = {"deviceName": "/dev/xvdb", "ebs": {"volumeSize": 9}}
    shown = preview(TEMPLATE, olds, {"blockDeviceMappings": [DISK]}, {"blockDeviceMappings": [other, DISK]})
    new, same = shown["blockDeviceMappings"]
    assert same == FULL
    assert (new["ebs"]["volumeSize"], new["ebs"]["volumeType"], new["noDevice"]) == (9, UNKNOWN, UNKNOWN)


def test_a_map_has_only_the_keys_of_the_program_and_a_value_has_the_kind_of_its_output() -> None:
    news = {"tags": {"a": 1}, "revokeRulesOnDelete": "true", "ingress": [{"fromPort": "1", "toPort": 2}]}
    shown = preview(GROUP, {"tags": {"b": "2"}}, {"tags": {"b": "2"}}, news)
    assert (shown["tags"], shown["revokeRulesOnDelete"]) == ({"a": "1"}, True)
    assert (shown["ingress"][0]["fromPort"], shown["ingress"][0]["cidrBlocks"]) == (1, UNKNOWN)


def test_a_template_of_an_unknown_value_is_unknown() -> None:
    token = "aws:efs/mountTarget:MountTarget"
    assert preview(token, {}, {}, {"fileSystemId": UNKNOWN})["dnsName"] == UNKNOWN
    assert preview(token, {}, {}, {"fileSystemId": "fs-1"})["dnsName"] == "fs-1.efs.r.amazonaws.com"
    assert preview(token, {}, {}, {})["dnsName"] == UNKNOWN


def test_before_an_object_exists_its_parts_are_not_known_to_be_empty() -> None:
    shown = planned_creation(known(CLUSTER), {"name": "main", "vpcConfig": SUBNETS})
    assert shown.keys() == {"name", "vpcConfig"}
    assert (shown["vpcConfig"]["subnetIds"], shown["vpcConfig"]["clusterSecurityGroupId"]) == (["a"], UNKNOWN)


def test_a_failed_update_keeps_what_aws_added_though_aws_answers_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    lifecycle, inputs = world.lifecycle(CLUSTER), SAMPLES[CLUSTER].inputs(world)
    id, outputs = lifecycle.create(inputs)
    throttled = AwsError("update_cluster_version", "ThrottlingException", "Rate exceeded")
    monkeypatch.setattr(Aws, "call", Mock(side_effect=throttled))
    with pytest.raises(PartialFailureError, match="Rate exceeded") as raised:
        lifecycle.update(id, outputs, {**inputs, "version": "1.35"}, {"version"})
    group = outputs["vpcConfig"]["clusterSecurityGroupId"]
    assert raised.value.outputs["vpcConfig"]["clusterSecurityGroupId"] == group
    assert raised.value.outputs["endpoint"] == outputs["endpoint"]


TEXT, NUMBER, TRUTH = Scalar("str"), Scalar("int"), Scalar("bool")


VPC_CONFIG = known("aws:eks/cluster:Cluster").inputs["vpcConfig"].kind
TAINTS = known("aws:eks/nodeGroup:NodeGroup").inputs["taints"].kind


@pytest.mark.parametrize(
    ("of", "wanted", "live", "is_same"),
    [
        (NUMBER, 30, "30", True),
        (TRUTH, "true", True, True),
        (TEXT, "a", "b", False),
        (TEXT, None, "", True),
        (TEXT, '{"Action": "s3:*"}', '{ "Action": ["s3:*"] }', True),
        (TEXT, '{"Action": ["a", "b"]}', {"Action": ["b", "a"]}, True),
        (TEXT, '{"Action": "s3:*"}', '{"Action": "ec2:*"}', False),
        (TEXT, "{broken", "{broken ", False),
        (MapOf(TEXT), {"a": 1}, {"a": "1"}, True),
        (MapOf(TEXT), {}, {"a": "1"}, False),
        (ListOf(TEXT), ["a", "b"], ["b", "a"], True),
        (ListOf(TEXT), ["a"], ["a", "a"], False),
        (VPC_CONFIG, {"subnetIds": ["a"]}, {"subnetIds": ["a"], "vpcId": "vpc-1"}, True),
        (VPC_CONFIG, {"subnetIds": ["a"]}, {"subnetIds": ["b"], "vpcId": "vpc-1"}, False),
        (TAINTS, [{"key": "a", "effect": "e"}], [{"key": "a", "effect": "e", "value": "x"}], True),
        (TAINTS, [{"key": "a", "effect": "e"}], [], False),
    ],
)
def test_only_what_differs_in_meaning_is_drift(of: Kind, wanted: Any, live: Any, is_same: bool) -> None:
    assert drift.same(of, wanted, live) is is_same


def test_only_properties_that_the_program_set_are_shown() -> None:
    live = {"subnetIds": ["b"], "endpointPublicAccess": True, "vpcId": "vpc-1"}
    wanted = {"subnetIds": ["a"], "endpointPublicAccess": True}
    assert drift.drifted(VPC_CONFIG, wanted, live) == {"subnetIds": ["b"], "endpointPublicAccess": True}


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

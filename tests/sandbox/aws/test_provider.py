"""The hooks of the provider without an engine."""

import re
from dataclasses import replace
from typing import Any

import pytest

from sandbox.aws.client import Aws, Clients, World
from sandbox.aws.provider import AwsProvider
from sandbox.rpc.diff import DEFAULTS_KEY, Diff, write
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.samples import World as Samples
from tests.sandbox.aws.samples.world import PROCESSES, TRUST


@pytest.fixture
def provider(clients: Clients) -> AwsProvider:
    return AwsProvider(World(clients, processes=PROCESSES))


def resource(type_token: str, name: str = "thing") -> Resource:
    return Resource(f"urn:pulumi:s::p::{type_token}::{name}", type_token, name)


@pytest.fixture
def aws(world: Samples) -> Aws:
    """One account, because each has a process of its own."""
    return world.aws


ROLE = resource("aws:iam/role:Role", "node")
CLUSTER = resource("aws:eks/cluster:Cluster")
NODES = resource("aws:eks/nodeGroup:NodeGroup")


def diff(provider: AwsProvider, aws: Aws, of: Resource, old: dict[str, Any], new: dict[str, Any]) -> Diff:
    outputs = {"instanceTypes": ["t3.medium"], **old} if of == NODES else old
    return provider.diff(aws, of, "id", old, {**outputs, "tagsAll": dict(aws.default_tags)}, new)


def replaced(found: Diff) -> dict[str, bool]:
    return {write(change.path): change.replace for change in found.changes}


@pytest.mark.parametrize(("type_token", "logical", "inputs", "name"), [
    ("aws:iam/role:Role", "node", {"assumeRolePolicy": TRUST}, "node-#"),
    ("aws:iam/role:Role", "x" * 80, {"assumeRolePolicy": TRUST}, f"{'x' * 57}#"),
    ("aws:iam/role:Role", "node", {"assumeRolePolicy": TRUST, "namePrefix": "eks-"}, "eks-#"),
    ("aws:kms/alias:Alias", "thing", {"targetKeyId": "k"}, "alias/thing-#"),
    ("aws:s3/bucket:Bucket", "Models", {}, "models-#"),
    ("aws:eks/addon:Addon", "thing", {"clusterName": "c", "addonName": "vpc-cni"}, None),
])  # fmt: skip
def test_a_name_is_generated_once_by_the_rules_of_its_type(
    provider: AwsProvider, aws: Aws, type_token: str, logical: str, inputs: dict[str, Any], name: str | None
) -> None:
    of = resource(type_token, logical)
    checked, failures = provider.check(aws, of, inputs, {}, b"seed")
    assert failures == []
    found = checked.get("bucket" if "bucket" in type_token else "name")
    assert (found and re.sub("[0-9a-f]{7}$", "#", found)) == name
    assert provider.check(aws, of, inputs, checked, b"other seed")[0] == checked


def test_a_type_that_pulumi_aws_lacks_is_refused(provider: AwsProvider, aws: Aws) -> None:
    _, failures = provider.check(aws, resource("aws:eks/kluster:Kluster"), {}, {}, b"")
    assert "has no type aws:eks/kluster:Kluster" in failures[0].reason


VPC_CONFIG = {"subnetIds": ["a"]}


@pytest.mark.parametrize(("of", "old", "new", "path", "is_replaced"), [
    (CLUSTER, {"vpcConfig": VPC_CONFIG}, {"vpcConfig": {"subnetIds": ["b"]}}, "vpcConfig.subnetIds[0]", False),
    (CLUSTER, {}, {"kubernetesNetworkConfig": {"ipFamily": "ipv6"}}, "kubernetesNetworkConfig", True),
    (NODES, {"instanceTypes": ["a"]}, {"instanceTypes": ["b"]}, "instanceTypes[0]", True),
    (NODES, {"region": "us-west-2"}, {"region": "us-east-1"}, "region", True),
    (resource("aws:lambda/function:Function"), {"role": "a"}, {"role": "b"}, "role", False),
])  # fmt: skip
def test_a_change_that_aws_cannot_make_replaces(
    provider: AwsProvider, aws: Aws, of: Resource, old: dict[str, Any], new: dict[str, Any], path: str,
    is_replaced: bool,
) -> None:  # fmt: skip
    assert replaced(diff(provider, aws, of, old, new)) == {path: is_replaced}


def test_only_an_explicit_name_requires_delete_before_replace(provider: AwsProvider, aws: Aws) -> None:
    old, new = {"name": "main", "roleArn": "a"}, {"name": "main", "roleArn": "b"}
    assert diff(provider, aws, CLUSTER, old, new).delete_before_replace
    made = {DEFAULTS_KEY: ["name"]}
    assert not diff(provider, aws, CLUSTER, {**old, **made}, {**new, **made}).delete_before_replace


def test_new_default_tags_are_an_update_of_every_object(world: Samples, provider: AwsProvider) -> None:
    aws = replace(world.aws, default_tags={"team": "b"})
    vpc, inputs = resource("aws:ec2/vpc:Vpc"), {"cidrBlock": "10.0.0.0/16"}
    id, outputs = provider.create(world.aws, vpc, inputs)
    found = provider.diff(aws, vpc, id, inputs, outputs, inputs)
    assert replaced(found) == {"tagsAll": False}
    assert not found.changes[0].input


def test_a_preview_shows_the_default_tags_on_what_can_have_tags_and_knows_none_beside_unknown_ones(
    world: Samples, provider: AwsProvider
) -> None:
    aws = replace(world.aws, default_tags={"team": "b"})
    vpc = {"cidrBlock": "10.0.0.0/16", "tags": {"name": "main"}}
    shown = provider.preview_create(aws, resource("aws:ec2/vpc:Vpc"), vpc)
    assert (shown["tagsAll"], shown["cidrBlock"], shown["arn"]) == (
        {"team": "b", "name": "main"}, "10.0.0.0/16", UNKNOWN,
    )  # fmt: skip
    unknown = provider.preview_create(aws, resource("aws:ec2/vpc:Vpc"), {**vpc, "tags": {"name": UNKNOWN}})
    assert (unknown["tags"], unknown["tagsAll"]) == ({"name": UNKNOWN}, UNKNOWN)
    route = {"routeTableId": "rtb-1", "destinationCidrBlock": "0.0.0.0/0", "gatewayId": "igw-1"}
    assert "tagsAll" not in provider.preview_create(aws, resource("aws:ec2/route:Route"), route)


def test_a_new_region_of_the_instance_replaces_it(provider: AwsProvider) -> None:
    found = provider.diff_config(resource("pulumi:providers:aws"), {"region": "a", "version": "1"}, {"region": "b"})
    assert replaced(found) == {"region": True}
    tags = provider.diff_config(resource("pulumi:providers:aws"), {}, {"defaultTags": '{"tags": {"a": "b"}}'})
    assert replaced(tags) == {"defaultTags": False}


def test_a_resource_may_name_its_own_region(provider: AwsProvider, aws: Aws) -> None:
    inputs = {"name": "elsewhere", "region": "eu-west-1"}
    queue = resource("aws:sqs/queue:Queue")
    id, outputs = provider.create(aws, queue, inputs)
    assert outputs["region"] == "eu-west-1"
    assert outputs["arn"].split(":")[3] == "eu-west-1"
    found = provider.read(aws, queue, id, outputs, inputs)
    assert found is not None
    assert found.inputs == inputs
    provider.delete(aws, queue, id, outputs, inputs)
    assert provider.read(aws, queue, id, outputs, inputs) is None

import functools
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from pulumi import _types
from pulumi.runtime import rpc
from sandbox.aws.outputs import simplest
from sandbox.aws.types import MAPPINGS, RECORDS

from sandbox.aws import records, replacement
from sandbox.aws.client import FAULT, Aws, AwsError, Clients
from sandbox.aws.client import World as Shared
from sandbox.aws.kinds import Field, Kind, ListOf, MapOf, ObjectOf, Scalar
from sandbox.aws.limits.members import Member, tree
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.provider import AwsProvider
from sandbox.aws.schema import tokens
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.alternatives import Alternatives
from tests.sandbox.aws.fakes import FakeNodes, attached
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.samples.world import known
from tests.sandbox.aws.test_stacks import plain
from tests.support import stacks


def make(aws: Aws, type_token: str, **inputs: Any) -> tuple[str, dict[str, Any]]:
    assert known(type_token).check(inputs) == []
    return records.create(aws, known(type_token), "thing", inputs)


def test_a_record_uses_only_inputs_and_outputs_of_its_type() -> None:
    for type_token, record in RECORDS.items():
        assert {path.split(".")[0] for path in record.force_new} <= set(known(type_token).inputs)
        assert set(record.computed) <= set(known(type_token).outputs)
        assert type_token not in MAPPINGS
        assert type_token in OPERATIONS


def test_the_order_of_inputs_changes_neither_id_nor_outputs(aws: Aws) -> None:
    inputs, token = {"alias": "a", "kmsKeyArn": "k"}, "aws:amp/workspace:Workspace"
    assert make(aws, token, **inputs) == make(aws, token, **dict(reversed(inputs.items())))
    assert make(aws, token, **inputs) != make(aws, token, **{**inputs, "alias": "b"})


@pytest.mark.parametrize(
    ("token", "inputs", "output", "begins"),
    [
        ("aws:apigatewayv2/api:Api", {"protocolType": "HTTP"}, "executionArn", "arn:aws:apigatewayv2:"),
        ("aws:apigatewayv2/api:Api", {"protocolType": "HTTP"}, "apiEndpoint", "https://"),
        ("aws:lb/loadBalancer:LoadBalancer", {}, "dnsName", ""),
        ("aws:lb/loadBalancer:LoadBalancer", {}, "zoneId", ""),
    ],
)
def test_texts_that_only_aws_has_are_made_up(
    aws: Aws, token: str, inputs: dict[str, Any], output: str, begins: str
) -> None:
    _, outputs = make(aws, token, **inputs)
    assert outputs[output]
    assert outputs[output].startswith(begins)


def test_a_list_that_only_aws_has_has_an_element(aws: Aws) -> None:
    """Programs take the first of the records that validate a certificate."""
    _, outputs = make(aws, "aws:acm/certificate:Certificate", domainName="example.com", validationMethod="DNS")
    (option,) = outputs["domainValidationOptions"]
    assert option["resourceRecordName"]
    assert option["resourceRecordValue"] == ""


def test_a_record_of_a_missing_object_is_refused(aws: Aws) -> None:
    inputs = {"fileSystemId": "fs-0123456789abcdef0", "fileSystemPath": "/a", "dataRepositoryPath": "s3://b"}
    with pytest.raises(AwsError, match="fs-0123456789abcdef0"):
        make(aws, "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", **inputs)


def test_a_tag_of_a_node_groups_auto_scaling_group_is_reported_to_the_nodes(world: World) -> None:
    aws, nodes, token = world.aws, FakeNodes(), "aws:autoscaling/tag:Tag"
    name = world.scaling_group()
    tag = {"key": "k", "value": "1", "propagateAtLaunch": True}
    inputs = {"autoscalingGroupName": name, "tag": tag}
    with attached(aws.clients, nodes=nodes):
        id, outputs = make(aws, token, **inputs)
        assert (id, nodes.tags) == (f"{name},k", {(name, "k"): "1"})
        changed = {**inputs, "tag": {**tag, "value": "2"}}
        outputs = records.update(aws, known(token), outputs, changed, inputs)
        assert nodes.tags == {(name, "k"): "2"}
        records.delete(aws, known(token), outputs)
        assert nodes.tags == {}
    with pytest.raises(AwsError, match="AutoScalingGroup name not found - eks-1"):
        make(aws, token, **{**inputs, "autoscalingGroupName": "eks-1"})
    records.delete(aws, known(token), {**outputs, "autoscalingGroupName": "eks-1"})


def test_made_up_values_survive_an_update(aws: Aws) -> None:
    token = "aws:ec2/placementGroup:PlacementGroup"
    _, outputs = make(aws, token, name="near", strategy="cluster")
    changed = {"name": "near", "strategy": "cluster", "tags": {"a": "b"}}
    updated = records.update(aws, known(token), outputs, changed, {"name": "near", "strategy": "cluster"})
    assert updated["placementGroupId"] == outputs["placementGroupId"]
    assert updated["tagsAll"] == {"a": "b"}


def test_any_other_type_gets_an_id_and_an_arn(aws: Aws) -> None:
    first = make(aws, "aws:amp/workspace:Workspace", alias="a")
    assert first == make(aws, "aws:amp/workspace:Workspace", alias="a"), "the same for the same inputs"
    assert first[1]["arn"] == f"arn:aws:amp:us-west-2:{aws.account}:workspace/{first[0]}"


def test_a_record_is_refreshed_unchanged(aws: Aws) -> None:
    provider = AwsProvider(Shared(aws.clients))
    workspace = Resource("urn", "aws:amp/workspace:Workspace", "w")
    found = provider.read(aws, workspace, "w-1", {"alias": "a"}, {"alias": "a"})
    assert found is not None
    assert (found.outputs, found.inputs) == ({"alias": "a"}, {"alias": "a"})


def test_a_record_that_the_program_says_to_exist_has_its_id_and_texts(aws: Aws) -> None:
    zone = Resource("urn", "aws:route53/zone:Zone", "zone")
    found = AwsProvider(Shared(aws.clients)).read(aws, zone, "Z1D633PJN98FT9", {}, {})
    assert found is not None
    assert found.outputs["zoneId"] == found.id == "Z1D633PJN98FT9"
    assert found.outputs["name"]
    assert found.outputs["arn"].endswith("zone/Z1D633PJN98FT9")
    arn = f"arn:aws:acm:us-west-2:{aws.account}:certificate/1"
    certificate = Resource("urn", "aws:acm/certificate:Certificate", "web")
    found = AwsProvider(Shared(aws.clients)).read(aws, certificate, arn, {}, {})
    assert found is not None
    assert found.outputs["arn"] == arn


def test_an_object_that_the_account_lacks_is_not_found_with_the_way_to_make_it(aws: Aws) -> None:
    vpc = Resource("urn", "aws:ec2/vpc:Vpc", "main")
    with pytest.raises(ProviderError, match="no Vpc 'vpc-0a1b2c3d' is in this account of the sandbox, in us-west-2;"):
        AwsProvider(Shared(aws.clients)).read(aws, vpc, "vpc-0a1b2c3d", {}, {})
    assert AwsProvider(Shared(aws.clients)).read(aws, vpc, "vpc-0a1b2c3d", {"cidrBlock": "10.0.0.0/16"}, {}) is None


def test_updates_that_moto_does_not_have_are_recorded() -> None:
    tokens = ("aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup")
    cluster, group = (MAPPINGS[token].recorded(known(token).inputs) for token in tokens)
    assert "upgradePolicy" in cluster
    assert not {"version", "accessConfig"} & set(cluster)
    assert "releaseVersion" in group
    assert not {"launchTemplate", "scalingConfig"} & set(group)


# Which changes replace an object is known of every type of the stacks, and is as in the provider's source.


VPC = "aws:ec2/vpc:Vpc"


def test_no_type_of_the_stacks_is_without_an_answer() -> None:
    used = {one.type for name in stacks.NAMES for one in stacks.recorded(name) if one.type.startswith("aws:")}
    assert sorted(token for token in used if not replacement.known(token)) == []


@pytest.mark.parametrize(
    ("type_token", "name", "replaces"),
    [
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", "monitorDimension", True),
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", "monitorSpecification", True),
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", "monitorType", True),
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", "name", False),
        ("aws:costexplorer/anomalySubscription:AnomalySubscription", "name", True),
        ("aws:costexplorer/anomalySubscription:AnomalySubscription", "frequency", False),
        ("aws:costexplorer/costAllocationTag:CostAllocationTag", "tagKey", True),
        ("aws:costexplorer/costAllocationTag:CostAllocationTag", "status", False),
        ("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "ecrRepositoryPrefix", True),
        ("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "credentialArn", False),
        ("aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate", "prefix", True),
        ("aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate", "description", False),
        ("aws:efs/backupPolicy:BackupPolicy", "fileSystemId", True),
        ("aws:efs/backupPolicy:BackupPolicy", "backupPolicy", False),
        ("aws:s3/bucketLogging:BucketLogging", "bucket", True),
        ("aws:s3/bucketLogging:BucketLogging", "targetPrefix", False),
        ("aws:s3/bucketObjectv2:BucketObjectv2", "key", True),
        ("aws:s3/bucketObjectv2:BucketObjectv2", "content", False),
    ],
)
def test_what_replaces_an_object(type_token: str, name: str, replaces: bool) -> None:
    assert replacement.forces_new(type_token, (name,), {name: "a"}, {name: "b"}) is replaces


@pytest.mark.parametrize(
    ("old", "new", "replaces"),
    [("dedicated", "default", False), ("dedicated", None, False), ("default", "dedicated", True)],
)
def test_a_vpc_becomes_default_in_place(old: str, new: str | None, replaces: bool) -> None:
    olds: dict[str, Any] = {"instanceTenancy": old}
    news = {} if new is None else {"instanceTenancy": new}
    assert replacement.forces_new(VPC, ("instanceTenancy",), olds, news) is replaces


# Every input of the types that the stacks use, changed in place: what a preview says is what the update does.


ASSOCIATION = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
OUR_FAULTS = (FAULT, "InvalidParameter")
"""Codes of answers that AWS does not give: moto's own fault, and a request that botocore refuses to send."""
PYTHON = {"str": str, "int": int, "float": (int, float), "bool": bool}


@dataclass
class Object:
    """An object whose inputs change one after the other; each change takes back the one before it."""

    provider: AwsProvider
    world: World
    type: str
    id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]

    @property
    def resource(self) -> Resource:
        return Resource(f"urn:pulumi:s::p::{self.type}::thing", self.type, "thing")

    @property
    def fields(self) -> Mapping[str, Field]:
        return known(self.type).outputs

    def change(self, base: Mapping[str, Any]) -> list[str] | None:
        """Preview a change and make it. None if it is refused or a replacement, else all that is wrong."""
        aws, of = self.world.aws, self.resource
        news, failures = self.provider.check(aws, of, {**base}, self.inputs, b"seed")
        found = self.provider.diff(aws, of, self.id, self.inputs, self.outputs, news)
        if failures or not found.changes or any(change.replace for change in found.changes):
            return None
        try:
            preview = self.provider.preview_update(aws, of, self.id, self.outputs, news, self.inputs)
            outputs = self.provider.update(aws, of, self.id, self.outputs, news, self.inputs)
        except ProviderError as error:
            cause = error if isinstance(error, AwsError) else error.__cause__
            assert isinstance(cause, AwsError), f"{self.type}: {base}"
            return [f"{cause}"] if cause.code in OUR_FAULTS else None
        wrong = [
            *(f"at preview {problem}" for problem in mismatches(self.fields, preview)),
            *mismatches(self.fields, outputs),
            *contradictions(preview, outputs),
            *self.forgotten(preview, {str(change.path[0]) for change in found.changes}),
        ]
        if again := self.provider.diff(aws, of, self.id, news, outputs, news).changes:
            wrong.append(f"is not settled: {again}")
        self.inputs, self.outputs = news, outputs
        return wrong

    def forgotten(self, preview: Mapping[str, Any], changed: set[str]) -> Iterator[str]:
        """Outputs that nothing has changed, and that a preview does not know all the same."""
        mapping = MAPPINGS.get(self.type)
        may = {"tagsAll", *changed, *(mapping.volatile if mapping else ())}
        for name, value in self.outputs.items():
            if name not in may and preview.get(name) != value:
                yield f"{name} was {value!r} and is {preview.get(name)!r} at preview"


def mismatches(fields: Mapping[str, Field], outputs: Mapping[str, Any]) -> Iterator[str]:
    """Outputs of another kind than the SDK's annotation says."""
    for name, value in outputs.items():
        yield from _mismatches(fields[name].kind, value, name)


def _mismatches(kind: Kind, value: Any, at: str) -> Iterator[str]:
    kind = simplest(kind)
    if value in (None, UNKNOWN):
        return
    if isinstance(kind, Scalar):
        if not isinstance(value, PYTHON[kind.name]) or (isinstance(value, bool) and kind.name != "bool"):  # type: ignore[arg-type]
            yield f"{at} is {value!r}, not {kind.name}"
    elif isinstance(kind, ListOf):
        for item in value:
            yield from _mismatches(kind.item, item, f"{at}[]")
    elif isinstance(kind, (MapOf, ObjectOf)):
        for name, item in value.items():
            below = kind.item if isinstance(kind, MapOf) else kind.fields[name].kind
            yield from _mismatches(below, item, f"{at}.{name}")


def contradictions(preview: Any, outputs: Any, at: str = "") -> Iterator[str]:
    """Values that a preview knows, and that are others after the update. Inside an object, none is a known value."""
    if isinstance(preview, Mapping) and isinstance(outputs, Mapping):
        for name in sorted({*preview} | ({*outputs} if at else set())):
            yield from contradictions(preview.get(name), outputs.get(name), f"{at}.{name}".strip("."))
    elif isinstance(preview, list) and isinstance(outputs, list) and len(preview) == len(outputs):
        for one, other in zip(preview, outputs, strict=True):
            yield from contradictions(one, other, f"{at}[]")
    elif preview not in (UNKNOWN, outputs):
        yield f"{at} is {preview!r} at preview and {outputs!r} afterwards"


@functools.cache
def annotated(type_token: str) -> Mapping[str, type]:
    module, name = tokens()[type_token]
    return _types.resource_types(getattr(importlib.import_module(module), name))


def read_by_the_sdk(type_token: str, outputs: Mapping[str, Any]) -> None:
    """Raises AssertionError where the SDK stops the program."""
    for name, value in outputs.items():
        rpc.translate_output_properties(value, str, annotated(type_token).get(name), True)


def first_inputs(world: World, type_token: str, recorded: Mapping[str, Any]) -> dict[str, Any]:
    if type_token in SAMPLES:
        return SAMPLES[type_token].inputs(world)
    if type_token == ASSOCIATION:
        return {**recorded, "fileSystemId": world.make(LUSTRE, **SAMPLES[LUSTRE].inputs(world))[0]}
    objects = {
        "bucket": world.bucket,
        "targetBucket": world.bucket,
        "fileSystemId": world.file_system,
        "autoscalingGroupName": world.scaling_group,
    }
    return {name: objects[name]() if name in objects else value for name, value in recorded.items()}


def changes(others: Alternatives, one: Object, base: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each input, at any depth, with another value, and without the optional ones that are set."""
    members = tree(one.world.aws, one.type)
    # What can't be taken back comes last, or all that follows would be refused for it.
    for name, field in sorted(known(one.type).inputs.items(), key=lambda each: each[0] == "allocatedStorage"):
        member = members.members.get(name, Member(name)) if members else Member(name)
        for path, value in others.of(name, field.kind, member, base.get(name)):
            yield path, {**base, name: value}
        if name in base and not field.required:
            yield f"{name} removed", {key: value for key, value in base.items() if key != name}


@pytest.fixture(scope="module")
def used() -> Mapping[str, dict[str, Any]]:
    """The types that the stacks use, with inputs of one of each."""
    found = [one for stack in stacks.NAMES for one in stacks.recorded(stack) if one.type.startswith("aws:")]
    return {one.type: plain(one) for one in found}


def test_a_preview_of_any_change_in_place_passes_and_says_what_the_update_does(
    clients: Clients, world: World, used: Mapping[str, dict[str, Any]]
) -> None:
    provider, others = AwsProvider(Shared(clients)), Alternatives(world)
    wrong: list[str] = []
    made = 0
    for type_token in sorted(used):
        base = first_inputs(world, type_token, used[type_token])
        one = Object(provider, world, type_token, "", {}, {})
        one.inputs, failures = provider.check(world.aws, one.resource, base, {}, b"seed")
        assert failures == [], type_token
        one.id, one.outputs = provider.create(world.aws, one.resource, one.inputs)
        done: set[str] = set()
        for path, inputs in changes(others, one, base):
            if path not in done and (found := one.change(inputs)) is not None:
                done.add(path)
                wrong += [f"{type_token} {path}: {problem}" for problem in found]
        read_by_the_sdk(type_token, one.outputs)
        live = provider.read(world.aws, one.resource, one.id, one.outputs, one.inputs)
        assert live is not None
        assert {**live.outputs} == one.outputs, type_token
        made += len(done)
    assert wrong == []
    # What the provider refuses of made-up values is no change: 777 are made (2026-11-29).
    assert made > 750

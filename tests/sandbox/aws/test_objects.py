"""Every sample by the provider, in the account: made, read, changed, repaired after drift, imported and deleted."""

import importlib
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from moto.core.responses import EmptyResult
from moto.ec2.responses.subnets import Subnets
from pulumi import _types
from pulumi.runtime import rpc

from sandbox.aws.moto import questions, remembered
from sandbox.aws.records import RECORDED
from sandbox.aws.schema import tokens
from sandbox.rpc import diff
from sandbox.rpc.errors import PartialFailureError, ProviderError
from sandbox.rpc.hooks import ReadResult
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.samples.world import Objects, document

EACH = pytest.mark.parametrize("token", sorted(SAMPLES))
IMPORTED = {
    "aws:autoscaling/schedule:Schedule": "{autoscaling_group_name}/{scheduled_action_name}",
    "aws:cloudwatch/eventTarget:EventTarget": "{rule}/{target_id}",
    "aws:ec2/route:Route": "{route_table_id}_{destination_cidr_block}",
    "aws:ec2/routeTableAssociation:RouteTableAssociation": "{subnet_id}/{route_table_id}",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": "{cluster_name},{association_id}",
}
"""What the provider imports an object by, where that isn't its ID."""
UNREAD = {
    "accessConfig", "deletionWindowInDays", "forceDelete", "forceDestroy", "password", "resolveConflictsOnCreate",
    "resolveConflictsOnUpdate", "skipFinalSnapshot", "securityGroupIds", "allocationId", "subnetId", "tags",
    "updateDefaultVersion",
}  # fmt: skip
"""Inputs that the account doesn't tell."""
REPLACED = {"aws:ecr/lifecyclePolicy:LifecyclePolicy", "aws:secretsmanager/secretVersion:SecretVersion"}
"""Types whose sample's change makes another object of them."""


def read(objects: Objects, id: str, outputs: dict[str, Any], inputs: dict[str, Any]) -> ReadResult:
    found = objects.read(id, outputs, inputs)
    assert found is not None
    return found


def read_by_the_sdk(token: str, outputs: Mapping[str, Any]) -> None:
    """Raises AssertionError where the SDK stops the program, because a value is of another kind than it says."""
    module, name = tokens()[token]
    with warnings.catch_warnings():
        # A service package imports all its types, including deprecated ones.
        warnings.simplefilter("ignore", DeprecationWarning)
        annotated = _types.resource_types(getattr(importlib.import_module(module), name))
    for key, value in outputs.items():
        rpc.translate_output_properties(value, str, annotated.get(key), True)


@EACH
def test_an_object_lives(token: str, world: World) -> None:
    sample, objects = SAMPLES[token], world.objects(token)
    inputs = objects.checked(sample.inputs(world))
    assert objects.provider.preview_create(world.aws, objects.resource, inputs)
    id, outputs = objects.create(inputs)
    assert id
    read_by_the_sdk(token, outputs)
    assert objects.diff(id, inputs, outputs, inputs).changes == ()
    assert read(objects, id, outputs, inputs).inputs == inputs, "false drift"
    again = {**read(objects, id, outputs, inputs).outputs}
    assert {**again, "latestRestorableTime": outputs.get("latestRestorableTime")} == {
        "latestRestorableTime": None
    } | outputs
    if sample.update:
        updated = objects.checked({**inputs, **sample.update})
        found = objects.diff(id, inputs, outputs, updated)
        assert {str(change.path[0]) for change in found.changes} == set(sample.update)
        assert any(change.replace for change in found.changes) is (token in REPLACED)
        if token not in REPLACED:
            objects.provider.preview_update(world.aws, objects.resource, id, outputs, updated, inputs)
            outputs, inputs = objects.update(id, outputs, updated, inputs), updated
            assert objects.diff(id, inputs, outputs, inputs).changes == ()
            assert read(objects, id, outputs, inputs).inputs == inputs, "the update was lost"
    if sample.behind:
        sample.behind(world.aws, id, outputs)
        live = read(objects, id, outputs, inputs)
        seen = dict(live.inputs)
        assert {key for key in {*seen, *inputs} if seen.get(key) != inputs.get(key)} == set(sample.shows)
        assert objects.diff(id, seen, dict(live.outputs), inputs).changes
        outputs = objects.update(id, dict(live.outputs), inputs, seen)
        assert read(objects, id, outputs, inputs).inputs == inputs, "the repair was lost"
    objects.delete(id, outputs)
    if not sample.stays:
        assert objects.read(id, outputs, inputs) is None
        objects.delete(id, outputs)


@EACH
def test_an_import_returns_the_inputs_that_a_program_would_set(token: str, world: World) -> None:
    objects = world.objects(token)
    inputs = objects.checked(SAMPLES[token].inputs(world))
    id, outputs = objects.create(inputs)
    pattern = IMPORTED.get(token, "{id}")
    names = {
        objects.type.form.properties[key]: value
        for key, value in outputs.items()
        if key in objects.type.form.properties
    }
    found = objects.read(pattern.format(**{**names, "id": id}), {}, {})
    assert found is not None
    assert found.inputs[diff.DEFAULTS_KEY] == sorted(set(found.inputs) - {diff.DEFAULTS_KEY, "tags"})
    changes = objects.diff(found.id, dict(found.inputs), dict(found.outputs), inputs).changes
    objects.delete(id, outputs)
    assert {str(one.path[0]) for one in changes} <= UNREAD, "a program would change it"


def test_a_failed_update_reports_the_known_outputs(world: World) -> None:
    objects = world.objects("aws:iam/rolePolicy:RolePolicy")
    inputs = {"role": world.role()["name"], "name": "inline", "policy": document("s3:Get*")}
    id, outputs = objects.create(inputs)
    with pytest.raises(PartialFailureError, match="MalformedPolicyDocument") as raised:
        objects.update(id, outputs, {**inputs, "policy": '{"Version": "2012-10-17", "Statement": []}'}, inputs)
    assert raised.value.id == id
    assert raised.value.outputs["role"] == inputs["role"]


def test_an_association_moves_to_another_table_and_is_still_found(world: World) -> None:
    objects = world.objects("aws:ec2/routeTableAssociation:RouteTableAssociation")
    inputs = {"routeTableId": world.table(), "subnetId": world.subnets(1)[0]}
    id, outputs = objects.create(inputs)
    moved = {**inputs, "routeTableId": world.table()}
    outputs = objects.update(id, outputs, moved, inputs)
    found = read(objects, id, outputs, moved)
    assert found.inputs == moved
    objects.delete(found.id, dict(found.outputs))
    assert objects.read(found.id, dict(found.outputs), moved) is None


def test_default_and_own_tags_are_separated(world: World) -> None:
    tagged = World(replace(world.aws, default_tags={"team": "ml", "stage": "dev"}))
    objects = tagged.objects("aws:ec2/vpc:Vpc")
    inputs = {"cidrBlock": "10.0.0.0/16", "tags": {"stage": "prod", "Name": "vpc"}}
    id, outputs = objects.create(inputs)
    assert outputs["tagsAll"] == {"team": "ml", "stage": "prod", "Name": "vpc"}
    assert read(objects, id, outputs, inputs).inputs == inputs
    removed = [{"Key": "team"}, {"Key": "Name"}]
    tagged.aws.call("ec2", "delete_tags", Resources=[id], Tags=removed)
    found = read(objects, id, outputs, inputs)
    assert found.inputs["tags"] == {"stage": "prod"}
    assert found.outputs["tagsAll"] == {"stage": "prod"}, "so that the next run puts the default tag back"
    assert objects.diff(id, dict(found.inputs), dict(found.outputs), inputs).changes


def test_an_object_of_the_provider_before_has_no_change(world: World) -> None:
    """Its outputs have nothing of what the provider keeps with an object, and no texts that are empty."""
    objects = world.objects("aws:iam/role:Role")
    inputs = {**SAMPLES["aws:iam/role:Role"].inputs(world), "name": world.unique("role")}
    id, outputs = objects.create(inputs)
    before: dict[str, Any] = {
        key: outputs[key] for key in ("arn", "name", "assumeRolePolicy", "tagsAll") if key in outputs
    }
    assert objects.diff(id, inputs, before, inputs).changes == ()
    changed = {**inputs, "description": "another"}
    assert objects.update(id, before, changed, inputs)["description"] == "another"


def test_a_changed_database_keeps_its_only_secret(world: World) -> None:
    """RDS makes a secret when it begins to manage the password, not at each change, and deletes it with the instance
    (RDS User Guide, "Password management with Amazon RDS and AWS Secrets Manager")."""
    objects, secrets = world.objects("aws:rds/instance:Instance"), world.aws
    inputs = {**SAMPLES["aws:rds/instance:Instance"].inputs(world), "manageMasterUserPassword": True}
    inputs.pop("password", None)

    def made() -> list[Any]:
        found = secrets.call("secretsmanager", "list_secrets")["SecretList"]
        return [one for one in found if one["Name"].startswith("rds!")]

    id, outputs = objects.create(inputs)
    first = made()
    assert len(first) == 1
    changed = {**inputs, "deletionProtection": False, "backupRetentionPeriod": 9}
    outputs = objects.update(id, outputs, changed, inputs)
    assert made() == first
    objects.delete(id, outputs)
    assert made() == []


def test_the_name_of_a_final_snapshot_is_taken_only_once(world: World) -> None:
    """RDS keeps the snapshot, and its name, when the instance is gone (RDS API Reference, DeleteDBInstance)."""
    objects = world.objects("aws:rds/instance:Instance")
    inputs = {**SAMPLES["aws:rds/instance:Instance"].inputs(world), "identifier": "again", "skipFinalSnapshot": False}
    for name in ("again-final-1", "again-final-2"):
        id, outputs = objects.create({**inputs, "finalSnapshotIdentifier": name})
        objects.delete(id, outputs)
    id, outputs = objects.create({**inputs, "finalSnapshotIdentifier": "again-final-1"})
    with pytest.raises(ProviderError, match="DBSnapshotAlreadyExists"):
        objects.delete(id, outputs)
    left = world.aws.call("rds", "describe_db_snapshots", DBInstanceIdentifier="again", SnapshotType="manual")
    assert {one["DBSnapshotIdentifier"] for one in left["DBSnapshots"]} == {"again-final-1", "again-final-2"}


def test_a_wait_for_what_the_account_never_reports_ends(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider would ask for minutes: it says what of which object it waits for, and the account says why."""
    monkeypatch.setattr(Subnets, "modify_subnet_attribute", lambda _: EmptyResult())
    monkeypatch.setattr(remembered, "_merge", lambda *_: None)
    monkeypatch.setattr(questions, "_QUIET_SECONDS", 1.0)
    waits = r"waiting for EC2 Subnet \(subnet-\w+\) MapPublicIpOnLaunch update"
    alike = "describe_subnets was answered alike"
    sets = r"modify_subnet_attribute \(MapPublicIpOnLaunch, SubnetId\) set"
    with pytest.raises(PartialFailureError, match=f"{waits}.*{alike}.*{sets}"):
        world.make("aws:ec2/subnet:Subnet", vpcId=world.home, cidrBlock="10.1.255.0/24", mapPublicIpOnLaunch=True)


def test_an_operation_that_nobody_answers_makes_a_record(world: World) -> None:
    """One whose path moto doesn't know, and one of several requests at which moto fails."""
    objects = world.objects("aws:efs/replicationConfiguration:ReplicationConfiguration")
    inputs = objects.checked({"sourceFileSystemId": world.file_system(), "destination": {"region": "us-east-1"}})
    objects.provider.preview_create(world.aws, objects.resource, inputs)
    assert RECORDED in objects.create(inputs)[1]
    objects, inputs = world.objects("aws:iam/virtualMfaDevice:VirtualMfaDevice"), {"virtualMfaDeviceName": "phone"}
    id, outputs = objects.create(inputs)
    assert RECORDED not in outputs
    assert read(objects, id, outputs, inputs).outputs == outputs

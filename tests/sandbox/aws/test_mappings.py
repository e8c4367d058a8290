"""Every mapping against moto: create, read without drift, update, drift, delete."""

from dataclasses import replace
from typing import Any

import pytest

from sandbox.aws import drift, provider
from sandbox.aws import lifecycle as lifecycle_module
from sandbox.aws.client import AwsError
from sandbox.aws.mapping import ALWAYS, ANY
from sandbox.aws.schema import schema
from sandbox.aws.types import MAPPINGS
from sandbox.rpc.errors import PartialFailureError
from sandbox.rpc.hooks import ReadResult
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.samples.world import document

WITHOUT_ARN = {"aws:autoscaling/schedule:Schedule"}
"""Types that have an ARN on AWS and none here: moto 5.2.5 gives none to scheduled actions."""
EACH = pytest.mark.parametrize("type_token", sorted(MAPPINGS))


def read(world: World, type_token: str, id: str, outputs: dict[str, Any], inputs: dict[str, Any]) -> ReadResult:
    found = world.lifecycle(type_token).read(id, outputs, inputs)
    assert found is not None
    return found


def test_every_mapping_has_a_sample() -> None:
    assert set(SAMPLES) == set(MAPPINGS)


@EACH
def test_a_mapping_uses_only_inputs_and_outputs_of_its_type(type_token: str) -> None:
    mapping, known = MAPPINGS[type_token], schema(type_token)
    assert known is not None
    inputs = {
        *(path.split(".")[0] for path in mapping.force_new), *mapping.drift, *mapping.defaults,
        *(key for setting in mapping.settings for key in setting.keys if key not in (ANY, ALWAYS)),
    }  # fmt: skip
    assert inputs <= set(known.inputs)
    assert {*mapping.computed, *mapping.from_item, *mapping.volatile} <= set(known.outputs)
    assert not set(mapping.drift) & set(mapping.recorded(known.inputs)), "a recorded update would look like drift"


@EACH
def test_an_object_is_created_read_updated_and_deleted(type_token: str, world: World) -> None:
    sample, lifecycle = SAMPLES[type_token], world.lifecycle(type_token)
    inputs = sample.inputs(world)
    assert lifecycle.schema.check(inputs) == []
    assert provider.check(world.aws, type_token, inputs) == []
    id, outputs = lifecycle.create(inputs)
    assert id
    if "arn" in lifecycle.schema.outputs:
        assert str(outputs.get("arn", "")).startswith("arn:aws:") is (type_token not in WITHOUT_ARN)
    assert read(world, type_token, id, outputs, inputs) == ReadResult(id, outputs, inputs), "false drift"
    if sample.update:
        updated = {**inputs, **sample.update}
        outputs = lifecycle.update(id, outputs, updated, set(sample.update))
        assert read(world, type_token, id, outputs, updated) == ReadResult(id, outputs, updated), "the update was lost"
        fields = lifecycle.schema.outputs
        assert all(
            drift.same(fields[key].kind, item, outputs[key]) for key, item in sample.update.items() if key in outputs
        )
        inputs = updated
    if sample.behind:
        sample.behind(world.aws, id, outputs)
        found = read(world, type_token, id, outputs, inputs)
        assert {key for key in found.inputs if found.inputs[key] != inputs.get(key)} == set(sample.shows)
        outputs = lifecycle.update(id, dict(found.outputs), inputs, set(sample.shows))
        assert read(world, type_token, id, outputs, inputs).inputs == inputs, "the repair was lost"
    lifecycle.delete(id, outputs)
    if not sample.stays:
        assert lifecycle.read(id, outputs, inputs) is None
        lifecycle.delete(id, outputs)


def test_the_description_of_a_rule_between_groups_is_kept(world: World) -> None:
    lifecycle = world.lifecycle("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule")
    group = world.group()
    inputs = {
        "securityGroupId": group, "referencedSecurityGroupId": group, "ipProtocol": "-1", "description": "EFA"
    }  # fmt: skip
    id, outputs = lifecycle.create(inputs)
    assert lifecycle.read(id, outputs, inputs) == ReadResult(id, outputs, inputs)


def test_a_delete_waits_for_dependents_and_then_reports_them(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float] = []
    monkeypatch.setattr("sandbox.aws.lifecycle.time.sleep", tried.append)
    table, vpc = world.lifecycle("aws:ec2/routeTable:RouteTable"), world.vpc()
    id, outputs = table.create({"vpcId": vpc})
    with pytest.raises(AwsError, match="DependencyViolation"):
        world.lifecycle("aws:ec2/vpc:Vpc").delete(vpc, {})
    assert len(tried) == lifecycle_module.DELETE_ATTEMPTS - 1
    monkeypatch.setattr("sandbox.aws.lifecycle.time.sleep", lambda _: table.delete(id, outputs))
    world.lifecycle("aws:ec2/vpc:Vpc").delete(vpc, {})


def test_a_failed_update_reports_the_known_outputs(world: World) -> None:
    lifecycle = world.lifecycle("aws:iam/rolePolicy:RolePolicy")
    inputs = {"role": world.role()["name"], "name": "inline", "policy": document("s3:Get*")}
    id, outputs = lifecycle.create(inputs)
    with pytest.raises(PartialFailureError, match="MalformedPolicyDocument") as raised:
        lifecycle.update(id, outputs, {**inputs, "policy": '{"Version": "2012-10-17", "Statement": []}'}, {"policy"})
    assert raised.value.id == id
    assert raised.value.outputs["role"] == inputs["role"]


def test_inline_routes_become_those_of_the_program(world: World) -> None:
    lifecycle = world.lifecycle("aws:ec2/routeTable:RouteTable")
    id, outputs = lifecycle.create({"vpcId": world.vpc(), "routes": []})
    gateway, nat = world.gateway_of(id), world.nat()
    inputs = {"vpcId": outputs["vpcId"], "routes": [{"cidrBlock": "0.0.0.0/0", "gatewayId": gateway}]}
    outputs = lifecycle.update(id, outputs, inputs, {"routes"})
    assert read(world, lifecycle.mapping.type, id, outputs, inputs).inputs == inputs
    inputs = {**inputs, "routes": [{"cidrBlock": "0.0.0.0/0", "natGatewayId": nat}]}
    outputs = lifecycle.update(id, outputs, inputs, {"routes"})
    assert read(world, lifecycle.mapping.type, id, outputs, inputs).inputs == inputs
    inputs = {**inputs, "routes": []}
    outputs = lifecycle.update(id, outputs, inputs, {"routes"})
    assert read(world, lifecycle.mapping.type, id, outputs, inputs).inputs == inputs


def test_an_association_moves_to_another_table_and_is_still_found(world: World) -> None:
    lifecycle = world.lifecycle("aws:ec2/routeTableAssociation:RouteTableAssociation")
    first, subnet = world.table(), world.subnets(1)[0]
    inputs = {"routeTableId": first, "subnetId": subnet}
    id, outputs = lifecycle.create(inputs)
    moved = {**inputs, "routeTableId": world.table()}
    outputs = lifecycle.update(id, outputs, moved, {"routeTableId"})
    assert read(world, lifecycle.mapping.type, id, outputs, moved).inputs == moved
    lifecycle.delete(id, outputs)
    assert lifecycle.read(id, outputs, moved) is None


def test_default_and_own_tags_are_separated(world: World) -> None:
    tagged = World(replace(world.aws, default_tags={"team": "ml", "stage": "dev"}))
    lifecycle = tagged.lifecycle("aws:ec2/vpc:Vpc")
    inputs = {"cidrBlock": "10.0.0.0/16", "tags": {"stage": "prod", "Name": "vpc"}}
    id, outputs = lifecycle.create(inputs)
    assert outputs["tagsAll"] == {"team": "ml", "stage": "prod", "Name": "vpc"}
    assert read(tagged, lifecycle.mapping.type, id, outputs, inputs).inputs == inputs
    removed = [{"Key": "team"}, {"Key": "Name"}]
    tagged.aws.call("ec2", "delete_tags", Resources=[id], Tags=removed)
    found = read(tagged, lifecycle.mapping.type, id, outputs, inputs)
    assert found.inputs["tags"] == {"stage": "prod"}
    assert found.outputs["tagsAll"] == {"stage": "prod"}, "so that the next run puts the default tag back"


def test_a_changed_database_keeps_its_only_secret(world: World) -> None:
    """RDS makes a secret when it begins to manage the password, not at each change, and deletes it with the instance
    (RDS User Guide, "Password management with Amazon RDS and AWS Secrets Manager")."""
    lifecycle, secrets = world.lifecycle("aws:rds/instance:Instance"), world.aws
    inputs = {**SAMPLES["aws:rds/instance:Instance"].inputs(world), "manageMasterUserPassword": True}
    inputs.pop("password", None)
    id, outputs = lifecycle.create(inputs)
    first = secrets.call("secretsmanager", "list_secrets")["SecretList"]
    assert len(first) == 1
    changed = {**inputs, "deletionProtection": False, "backupRetentionPeriod": 9}
    outputs = lifecycle.update(id, outputs, changed, {"deletionProtection", "backupRetentionPeriod"})
    assert secrets.call("secretsmanager", "list_secrets")["SecretList"] == first
    lifecycle.delete(id, outputs)
    assert secrets.call("secretsmanager", "list_secrets")["SecretList"] == []


def test_the_name_of_a_final_snapshot_is_taken_only_once(world: World) -> None:
    """RDS keeps the snapshot, and its name, when the instance is gone (RDS API Reference, DeleteDBInstance)."""
    lifecycle = world.lifecycle("aws:rds/instance:Instance")
    inputs = {**SAMPLES["aws:rds/instance:Instance"].inputs(world), "identifier": "again", "skipFinalSnapshot": False}
    for name in ("again-final-1", "again-final-2"):
        id, outputs = lifecycle.create({**inputs, "finalSnapshotIdentifier": name})
        lifecycle.delete(id, outputs)
    id, outputs = lifecycle.create({**inputs, "finalSnapshotIdentifier": "again-final-1"})
    with pytest.raises(AwsError, match="DBSnapshotAlreadyExists"):
        lifecycle.delete(id, outputs)
    left = world.aws.call("rds", "describe_db_snapshots", DBInstanceIdentifier="again", SnapshotType="manual")[
        "DBSnapshots"
    ]
    assert {one["DBSnapshotIdentifier"] for one in left} == {"again-final-1", "again-final-2"}

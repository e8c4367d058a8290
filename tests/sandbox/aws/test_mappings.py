"""Every mapping against moto: create, read without drift, update, drift, delete."""

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sandbox.aws.mapping import ALWAYS, ANY, Call, find
from sandbox.aws.types import MAPPINGS

from sandbox.aws import drift, provider, types
from sandbox.aws import lifecycle as lifecycle_module
from sandbox.aws.client import Aws, AwsError
from sandbox.aws.client import World as Shared
from sandbox.aws.invokes import FUNCTIONS, invoke, render
from sandbox.aws.kinds import Scalar
from sandbox.notes import NoteKind, Notes, load_notes
from sandbox.rpc import diff
from sandbox.rpc.errors import PartialFailureError, ProviderError
from sandbox.rpc.hooks import ReadResult
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.samples.world import document, known

WITHOUT_ARN = {"aws:autoscaling/schedule:Schedule"}
"""Types that have an ARN on AWS and none here: moto 5.2.5 gives none to scheduled actions."""
EACH = pytest.mark.parametrize("type_token", sorted(MAPPINGS))


def read(world: World, type_token: str, id: str, outputs: dict[str, Any], inputs: dict[str, Any]) -> ReadResult:
    found = world.lifecycle(type_token).read(id, outputs, inputs)
    assert found is not None
    return found


def test_every_mapping_has_a_sample() -> None:
    assert set(SAMPLES) == set(MAPPINGS), "add an entry of each to a module of tests/sandbox/aws/samples/"


@EACH
def test_a_mapping_uses_only_inputs_and_outputs_of_its_type(type_token: str) -> None:
    mapping, fields = MAPPINGS[type_token], known(type_token)
    inputs = {
        *(path.split(".")[0] for path in mapping.force_new), *mapping.drift, *mapping.defaults,
        *(key for setting in mapping.settings for key in setting.keys if key not in (ANY, ALWAYS)),
    }  # fmt: skip
    assert inputs <= set(fields.inputs)
    assert {*mapping.computed, *mapping.from_item, *mapping.volatile} <= set(fields.outputs)
    assert not set(mapping.drift) & set(mapping.recorded(fields.inputs)), "a recorded update would look like drift"


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
    inputs = {"securityGroupId": group, "referencedSecurityGroupId": group, "ipProtocol": "-1", "description": "EFA"}
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
    id, outputs = lifecycle.create({"vpcId": world.home, "routes": []})
    for way in ({"gatewayId": world.gateway_of(id)}, {"natGatewayId": world.nat()}, None):
        inputs = {"vpcId": outputs["vpcId"], "routes": [{"cidrBlock": "0.0.0.0/0", **way}] if way else []}
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

    def made() -> list[Any]:
        found = secrets.call("secretsmanager", "list_secrets")["SecretList"]
        return [one for one in found if one["Name"].startswith("rds!")]

    id, outputs = lifecycle.create(inputs)
    first = made()
    assert len(first) == 1
    changed = {**inputs, "deletionProtection": False, "backupRetentionPeriod": 9}
    outputs = lifecycle.update(id, outputs, changed, {"deletionProtection", "backupRetentionPeriod"})
    assert made() == first
    lifecycle.delete(id, outputs)
    assert made() == []


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
    left = world.aws.call("rds", "describe_db_snapshots", DBInstanceIdentifier="again", SnapshotType="manual")
    assert {one["DBSnapshotIdentifier"] for one in left["DBSnapshots"]} == {"again-final-1", "again-final-2"}


INDEX = "aws:index/{0}:{0}"


def test_zones_are_sorted_and_exclude_the_excluded(aws: Aws) -> None:
    found = invoke(aws, INDEX.format("getAvailabilityZones"), {"state": "available", "excludeNames": ["us-west-2b"]})
    assert found["names"][:2] == ["us-west-2a", "us-west-2c"]
    assert len(found["zoneIds"]) == len(found["names"])
    assert found["state"] == "available"


def test_zones_can_be_filtered(aws: Aws) -> None:
    filters = [{"name": "zone-name", "values": ["us-west-2c"]}]
    assert invoke(aws, INDEX.format("getAvailabilityZones"), {"filters": filters})["names"] == ["us-west-2c"]


def test_the_caller_is_the_account(aws: Aws) -> None:
    found = invoke(aws, INDEX.format("getCallerIdentity"), {})
    assert found["accountId"] == found["id"] == aws.account
    assert aws.account in found["arn"]


def test_region_and_partition_are_returned(aws: Aws) -> None:
    assert invoke(aws, INDEX.format("getRegion"), {})["region"] == "us-west-2"
    assert invoke(aws.at("cn-north-1"), INDEX.format("getPartition"), {})["dnsSuffix"] == "amazonaws.com.cn"


def test_a_parameter_is_read(aws: Aws) -> None:
    aws.call("ssm", "put_parameter", Name="/team/token", Value="v", Type="SecureString")
    found = invoke(aws, "aws:ssm/getParameter:getParameter", {"name": "/team/token"})
    assert (found["value"], found["insecureValue"], found["version"]) == ("v", "", 1)
    listed = invoke(aws, "aws:ssm/getParametersByPath:getParametersByPath", {"path": "/team"})
    assert listed["names"] == ["/team/token"]


def test_the_newest_image_is_chosen_on_request(aws: Aws) -> None:
    token = "aws:ec2/getAmi:getAmi"
    args = {"owners": ["amazon"], "filters": [{"name": "name", "values": ["amzn2-ami-hvm-*"]}]}
    found = invoke(aws, token, {**args, "mostRecent": True})
    assert found["id"] == found["imageId"]
    assert found["name"].startswith("amzn2-ami-hvm-")
    with pytest.raises(ProviderError, match="more than one result"):
        invoke(aws, token, args)
    with pytest.raises(ProviderError, match="returned no results"):
        invoke(aws, token, {"filters": [{"name": "name", "values": ["nothing"]}]})


def test_an_unsupported_function_is_refused_by_name(aws: Aws) -> None:
    with pytest.raises(
        ProviderError, match="the sandbox does not support the function aws:ec2/getVpcs:getVpcs"
    ) as raised:
        invoke(aws, "aws:ec2/getVpcs:getVpcs", {})
    assert all(name.split(":")[-1] in str(raised.value) for name in FUNCTIONS)


def test_a_data_source_of_a_type_that_is_only_recorded_has_made_up_texts_and_is_noted(aws: Aws, tmp_path: Path) -> None:
    token, notes = "aws:route53/getZone:getZone", Notes(tmp_path)
    asked = provider.AwsProvider(Shared(aws.clients, notes=notes))
    by_name = asked.invoke(aws, token, {"name": "example.com"})
    assert by_name["name"] == "example.com"
    assert by_name["zoneId"] == by_name["id"] != ""
    assert asked.invoke(aws, token, {"zoneId": "Z1D633PJN98FT9"})["id"] == "Z1D633PJN98FT9"
    asked.invoke(aws, "aws:index/getRegion:getRegion", {})
    assert [(one.urn, one.kind, one.text) for one in load_notes(tmp_path)] == [(token, NoteKind.MADE_UP, "2")]


def test_a_policy_document_is_rendered_as_iam_writes_it() -> None:
    conditions = [
        {"test": "StringEquals", "variable": "oidc:sub", "values": ["a", "b"]},
        {"test": "StringEquals", "variable": "oidc:aud", "values": ["sts.amazonaws.com"]},
    ]
    federated = {"principals": [{"type": "Federated", "identifiers": ["arn"]}], "conditions": conditions}
    allow = {"sid": "Assume", "actions": ["sts:AssumeRoleWithWebIdentity"], **federated}
    deny = {"effect": "Deny", "notActions": ["s3:*", "ec2:*"], "resources": ["home/&{aws:username}"]}
    assert json.loads(render({"statements": [allow, deny]})) == {"Version": "2012-10-17", "Statement": [
            {"Sid": "Assume", "Effect": "Allow",
                "Action": "sts:AssumeRoleWithWebIdentity", "Principal": {"Federated": "arn"},
                "Condition": {"StringEquals": {"oidc:sub": ["a", "b"], "oidc:aud": "sts.amazonaws.com"}}},
            {"Effect": "Deny", "NotAction": ["s3:*", "ec2:*"], "Resource": "home/${aws:username}"}]}  # fmt: skip


def test_sources_come_first_and_overrides_replace_by_sid() -> None:
    source = render({"statements": [{"sid": "A", "actions": ["a"]}, {"sid": "B", "actions": ["b"]}]})
    override = render({"statements": [{"sid": "A", "actions": ["z"]}]})
    own = {"statements": [{"actions": ["c"]}]}
    args = {"sourcePolicyDocuments": [source], "overridePolicyDocuments": [override], **own}
    assert [item["Action"] for item in json.loads(render(args))["Statement"]] == ["z", "b", "c"]


def test_any_principal_is_a_star() -> None:
    everyone = [{"type": "*", "identifiers": ["*"]}]
    assert json.loads(render({"statements": [{"principals": everyone}]}))["Statement"][0]["Principal"] == "*"


# Importing an object of every mapping: its live values become the inputs.


# Their ids don't identify them: on AWS they are imported by another id.
UNFINDABLE = {"aws:cloudwatch/eventTarget:EventTarget", "aws:ec2/route:Route"}


@pytest.mark.parametrize("type_token", sorted(set(MAPPINGS) - UNFINDABLE))
def test_an_import_returns_the_inputs_that_a_program_would_set(type_token: str, world: World) -> None:
    sample, lifecycle = SAMPLES[type_token], world.lifecycle(type_token)
    inputs = sample.inputs(world)
    id, _ = lifecycle.create(inputs)
    found = lifecycle.read(id, {}, {})
    assert found is not None
    compared = set(lifecycle.mapping.drift) & set(inputs)
    assert compared <= set(found.inputs)
    changes = {str(change.path[0]) for change in diff.compare(dict(found.inputs), inputs)}
    documents = {name for name in changes if drift.same(Scalar("str"), inputs.get(name), found.inputs.get(name))}
    assert not (changes - documents) & compared, "the program would change what it just imported"
    assert found.inputs[diff.DEFAULTS_KEY] == sorted(set(found.inputs) - {diff.DEFAULTS_KEY, "tags"})


# Rows of types: words that don't exist are errors, and no function is there for nothing.


FOLDER = Path(types.__file__).parent
ROW = {"service": "efs", "create": {"call": "create_access_point"}, "read": {"call": "describe_access_points"}}


@pytest.mark.parametrize(("more", "said"), [
    ({"replace": ["posixUser"]}, "unknown: replace; known: .*, replaces, "),
    ({"create": {"call": "create_access_point", "omits": []}}, "unknown: omits; known: .*, omit, "),
    ({"delete": "delete_nothing"}, "delete_nothing"),
])  # fmt: skip
def test_an_unknown_word_is_an_error_with_file_and_type(
    more: dict[str, object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "aws:efs/accessPoint:AccessPoint"
    monkeypatch.setattr("spec.strict_yaml.read", lambda _text: {token: {**ROW, **more}})
    with pytest.raises(ValueError, match=rf"network\.yaml: {token}: .*{said}"):
        types._load()


@pytest.mark.parametrize("rows", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_function_without_a_docstring_is_named_by_a_row(rows: Path) -> None:
    tree = ast.parse(rows.with_suffix(".py").read_text(encoding="utf-8"))
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]
    named = rows.read_text(encoding="utf-8").replace(",", " ").replace("}", " ").split()
    assert [one.name for one in functions if ast.get_docstring(one) is None and one.name not in named] == []


def test_what_other_calls_add_is_found_with_the_object(aws: Aws) -> None:
    id = aws.call("efs", "create_file_system", CreationToken="one")["FileSystemId"]
    describe = types.MAPPINGS["aws:efs/fileSystem:FileSystem"].read
    assert isinstance(describe, Call)
    found = find(aws, "efs", describe, {"id": id})
    assert found is not None
    assert (found["FileSystemId"], found["LifecyclePolicies"]) == (id, [])
    assert find(aws, "efs", describe, {"id": "fs-0123456789abcdef0"}) is None

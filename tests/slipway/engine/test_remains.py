"""Nothing that outlives a destroy is encrypted with a key that the destroy deletes, in the program of every stack."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest

from slipway.engine import gate, pending, remains
from slipway.render.program import record_platform
from slipway.render.recording import RecordedResource, Recording
from spec.errors import SlipwayError
from spec.settings import load, read_stack
from tests.support.day import TODAY
from tests.support.stacks import FOLDER, NAMES

KEY: Final = "aws:kms/key:Key"
DATABASE: Final = "aws:rds/instance:Instance"
VARIANTS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    *((stack, {}) for stack in NAMES),
    ("dev", {"mlflow": {"database": {"finalSnapshot": True}}}),
    ("staging", {"mlflow": {"database": {"finalSnapshot": False}}}),
    ("staging", {"mlflow": None}),
)
variants = pytest.mark.parametrize("at", range(len(VARIANTS)), ids=lambda at: "-".join(map(str, VARIANTS[at])))


@cache
def recorded(at: int) -> Recording:
    stack, addons = VARIANTS[at]
    data: Any = read_stack(stack, FOLDER)
    chosen = {name: one for name, one in {**data["addons"], **addons}.items() if one is not None}
    return record_platform(load({**data, "addons": chosen}, stack=stack, today=TODAY).platform, stack=stack)


def before(recording: Recording, one: RecordedResource) -> set[str]:
    """URNs of everything that the engine creates before a resource, and deletes after it."""
    found: set[str] = set()
    todo = [one.urn]
    while todo:
        new = set(recording.resources[todo.pop()].options.dependencies) - found
        found |= new
        todo += new
    return found


def keys_of(recording: Recording, one: RecordedResource, key: str) -> list[RecordedResource]:
    """KMS keys whose outputs a property uses."""
    urns = one.options.property_dependencies.get(key, ())
    return [recording.resources[urn] for urn in urns if recording.resources[urn].type == KEY]


def outliving(recording: Recording) -> Iterator[tuple[str, RecordedResource]]:
    """What outlives a destroy, and its key."""
    for one in recording:
        entry = remains.TABLE.get(one.type)
        if entry and entry.key and remains.of(one.type, one.inputs.plain):
            yield from ((one.name, key) for key in keys_of(recording, one, entry.key))
        if one.options.retain_on_delete and one.type != KEY:
            for name in one.options.property_dependencies:
                yield from ((one.name, key) for key in keys_of(recording, one, name))


@variants
def test_the_key_of_what_outlives_a_destroy_is_retained(at: int) -> None:
    lost = [(name, key.name) for name, key in outliving(recorded(at)) if not key.options.retain_on_delete]
    assert lost == []


@variants
def test_data_that_aws_refuses_to_delete_keeps_its_key(at: int) -> None:
    """The engine deletes a key only after everything that depends on it: a bucket with objects stops it."""
    recording = recorded(at)
    doomed = [
        (container.name, key.name)
        for one in recording
        for name in one.options.property_dependencies
        for key in keys_of(recording, one, name)
        for container in data_of(recording, one)
        if key.urn not in before(recording, container)
    ]
    assert doomed == []


def data_of(recording: Recording, one: RecordedResource) -> list[RecordedResource]:
    """The resource, or the one that it configures, if it holds data: a bucket's encryption is a resource of its own."""
    bucket = [recording.resources[urn] for urn in one.options.property_dependencies.get("bucket", ())]
    return [each for each in (one, *bucket) if each.type in gate.TABLE and each.type != KEY]


def test_the_program_has_data_whose_key_is_in_a_resource_of_its_own() -> None:
    recording = recorded(0)
    configured = {each.name for one in recording for each in data_of(recording, one) if each is not one}
    assert len(configured) == 5, "the buckets"


@variants
def test_only_a_key_that_something_needs_is_retained(at: int) -> None:
    recording = recorded(at)
    needed = {key.urn for _, key in outliving(recording)}
    assert {one.urn for one in recording if one.type == KEY and one.options.retain_on_delete} <= needed


def test_the_variants_have_databases_with_and_without_a_final_snapshot() -> None:
    kept = {
        bool(remains.of(one.type, one.inputs.plain))
        for at in range(len(VARIANTS))
        for one in recorded(at)
        if one.type == DATABASE
    }
    assert kept == {True, False}


@pytest.mark.parametrize(
    ("kind", "inputs", "what"),
    [
        (DATABASE, {"skipFinalSnapshot": True, "finalSnapshotIdentifier": "x"}, ""),
        (DATABASE, {"skipFinalSnapshot": False, "finalSnapshotIdentifier": "x"}, "final snapshot x"),
        (DATABASE, {"finalSnapshotIdentifier": "x"}, "final snapshot x"),
        ("aws:efs/backupPolicy:BackupPolicy", {"backupPolicy": {"status": "DISABLED"}}, ""),
        ("aws:efs/backupPolicy:BackupPolicy", {"backupPolicy": {"status": "ENABLED"}}, "recovery points"),
        ("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", {"ecrRepositoryPrefix": "ml/k8s"}, "ml/k8s/*"),
        ("aws:s3/bucket:Bucket", {}, ""),
    ],
)
def test_what_remains_follows_from_the_inputs(kind: str, inputs: dict[str, Any], what: str) -> None:
    found = remains.of(kind, inputs)
    assert what in found
    assert bool(found) == bool(what)


# Operations that a killed run left open, and the state in which they are settled.


VPC, SUBNET, ROLE = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet", "aws:iam/role:Role"


def urn(type: str, name: str) -> str:
    return f"urn:pulumi:dev::slipway::{type}::{name}"


def resource(type: str, name: str, id: str = "", **more: Any) -> dict[str, Any]:
    return {"urn": urn(type, name), "type": type, "custom": True, **({"id": id} if id else {}), **more}


def document(resources: list[dict[str, Any]], *operations: tuple[str, dict[str, Any]]) -> str:
    waiting = [{"type": kind, "resource": each} for kind, each in operations]
    return json.dumps({"version": 3, "deployment": {"resources": resources, "pending_operations": waiting}})


def settled(text: str, adopted: dict[str, str]) -> list[dict[str, Any]]:
    deployment = json.loads(pending.settled(text, adopted))["deployment"]
    assert "pending_operations" not in deployment
    found: list[dict[str, Any]] = deployment["resources"]
    return found


def test_operations_have_what_the_engine_recorded_about_them() -> None:
    text = document([], ("creating", resource(VPC, "vpc", inputs={"cidrBlock": "10.0.0.0/16"}, provider="aws::1")))
    (operation,) = pending.operations(text)
    assert (operation.kind, operation.type, operation.name, operation.id) == ("creating", VPC, "vpc", "")
    assert operation.inputs == {"cidrBlock": "10.0.0.0/16"}


def test_a_state_without_open_operations_has_none() -> None:
    assert pending.operations('{"deployment": {"resources": []}}') == ()


@pytest.mark.parametrize("text", ["", "[]", '{"deployment": {"pending_operations": [{}]}}'])
def test_what_is_no_state_is_refused(text: str) -> None:
    with pytest.raises(SlipwayError, match="not a stack's state"):
        pending.operations(text)


def test_identifiers_of_the_state_are_known_by_type() -> None:
    text = document([resource(VPC, "a", "vpc-1"), resource(VPC, "b", "vpc-2"), resource(ROLE, "r", "role")])
    assert pending.identifiers(text) == {VPC: {"vpc-1", "vpc-2"}, ROLE: {"role"}}


def test_a_component_is_adopted_without_an_id_and_before_its_children() -> None:
    """The engine refuses a state in which a parent is missing, and an id of what no provider made."""
    component = {**resource("slipway:storage:Buckets", "buckets"), "custom": False}
    child = resource(VPC, "vpc", parent=component["urn"], inputs={})
    text = document([], ("creating", child), ("creating", component))
    assert [operation.custom for operation in pending.operations(text)] == [True, False]
    first, second = settled(text, {child["urn"]: "vpc-1", component["urn"]: ""})
    assert (first["urn"], "id" in first, "id" in first.get("outputs", {})) == (component["urn"], False, False)
    assert second["id"] == "vpc-1"


def test_an_adopted_resource_is_in_the_state_with_its_inputs_until_a_refresh() -> None:
    new = resource(VPC, "vpc", inputs={"cidrBlock": "10.0.0.0/16"})
    (adopted,) = settled(document([], ("creating", new)), {new["urn"]: "vpc-1"})
    assert adopted["id"] == "vpc-1"
    assert adopted["outputs"] == {"cidrBlock": "10.0.0.0/16", "id": "vpc-1"}


def test_outputs_that_the_provider_had_answered_are_kept() -> None:
    new = resource(ROLE, "role", "role-1", inputs={}, outputs={"arn": "arn:role"})
    (adopted,) = settled(document([], ("creating", new)), {new["urn"]: "role-1"})
    assert adopted["outputs"] == {"arn": "arn:role"}


def test_what_is_not_adopted_is_dropped_and_other_operations_leave_the_state_as_it_is() -> None:
    before = [resource(VPC, "vpc", "vpc-1"), resource(ROLE, "role", "role-1")]
    text = document(before, ("creating", resource(SUBNET, "a")), ("deleting", before[1]), ("updating", before[0]))
    assert settled(text, {}) == before


def test_adopted_resources_follow_those_that_they_need() -> None:
    vpc = resource(VPC, "vpc")
    subnet = resource(SUBNET, "subnet", dependencies=[vpc["urn"]], propertyDependencies={"vpcId": [vpc["urn"]]})
    association = resource("aws:ec2/x:X", "x", parent=subnet["urn"])
    text = document([], ("creating", association), ("creating", subnet), ("creating", vpc))
    order = settled(text, {vpc["urn"]: "1", subnet["urn"]: "2", association["urn"]: "3"})
    assert [each["id"] for each in order] == ["1", "2", "3"]


def test_the_resource_that_a_new_one_replaces_is_marked_for_deletion() -> None:
    old, new = resource(ROLE, "role", "role-1"), resource(ROLE, "role")
    first, second = settled(document([old], ("creating", new)), {new["urn"]: "role-2"})
    assert (first["id"], first.get("delete")) == ("role-1", True)
    assert (second["id"], second.get("delete")) == ("role-2", None)


def plan(*steps: tuple[str, dict[str, Any]]) -> str:
    return json.dumps({"steps": [{"op": op, "urn": each["urn"], "newState": each} for op, each in steps]})


def test_what_a_plan_would_create_is_open_if_its_inputs_are_known_and_what_it_needs_is_there() -> None:
    vpc = resource(VPC, "vpc", "vpc-1")
    component = {**resource("slipway:network:Network", "network"), "custom": False}
    lost = resource(SUBNET, "lost", inputs={"vpcId": "vpc-1"}, parent=component["urn"], dependencies=[vpc["urn"]])
    unknown = resource(SUBNET, "unknown", inputs={"vpcId": pending.UNKNOWN})
    provider = resource("pulumi:providers:kubernetes", "new", inputs={})
    beyond = resource(ROLE, "beyond", inputs={}, provider=f"{provider['urn']}::x")
    creates = [("create", each) for each in (component, lost, unknown, provider, beyond)]
    text = pending.reopened(document([vpc]), plan(("same", vpc), *creates))
    assert [operation.name for operation in pending.operations(text)] == ["network", "lost"]
    with pytest.raises(SlipwayError, match="not a stack's state"):
        pending.reopened(document([vpc]), "no plan")


def test_an_adopted_resource_depends_on_nothing_that_is_not_there() -> None:
    """The engine refuses such a state."""
    vpc = resource(VPC, "vpc", "vpc-1")
    needs: dict[str, Any] = {
        "dependencies": [vpc["urn"], urn(ROLE, "absent")],
        "propertyDependencies": {"a": [urn(ROLE, "absent")]},
    }
    new = resource(SUBNET, "lost", inputs={}, **needs)
    _, adopted = settled(document([vpc], ("creating", new)), {new["urn"]: "subnet-1"})
    assert adopted["dependencies"] == [vpc["urn"]]
    assert adopted["propertyDependencies"] == {"a": []}

"""Operations that a killed run left open, and the state in which they are settled."""

import json
from typing import Any

import pytest

from slipway.engine import pending
from spec.errors import SlipwayError

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

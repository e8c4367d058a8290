"""What a plan replaces or deletes, from event logs: a recorded one, and small made-up ones for other cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slipway.engine.plan import Forced, removals
from spec.errors import SlipwayError

RECORDED = Path(__file__).with_name("plans") / "another-service-range.jsonl"
"""Events of `pulumi preview` (v3.258.0) on stack dev with another `cluster.serviceIpv4Cidr` and without pool `cpu`,
reduced to five resources and the inputs that matter here."""
BUCKET = "aws:s3/bucket:Bucket"


def urn(kind: str, name: str = "it") -> str:
    return f"urn:pulumi:dev::slipway::{kind}::{name}"


def event(op: str, kind: str = BUCKET, name: str = "it", **more: Any) -> str:
    step = {"op": op, "urn": urn(kind, name), "type": kind, **more}
    return json.dumps({"sequence": 1, "resourcePreEvent": {"metadata": step, "planning": True}}) + "\n"


def test_a_recorded_plan_has_its_removals_and_what_forces_them() -> None:
    with RECORDED.open() as lines:
        by_name = {removal.urn.rpartition("::")[2]: removal for removal in removals(lines)}
    assert set(by_name) == {
        "cluster-autoscaler-association",
        "cluster-control-plane",
        "pool-cpu-node-pool",
        "pool-h100-node-pool",
        "pool-system-node-group",
    }
    assert {removal.operation for removal in by_name.values()} == {"replace"}
    assert by_name["cluster-control-plane"].forced == (
        Forced(path="kubernetesNetworkConfig.serviceIpv4Cidr", old='"172.20.0.0/16"', new='"10.200.0.0/16"'),
    )
    assert by_name["pool-system-node-group"].inputs["labels"]["platform.slipway/role"] == "system"


@pytest.mark.parametrize("op", ["same", "update", "create", "read", "refresh", "import", "remove-pending-replace"])
def test_a_step_that_removes_nothing_is_left_out(op: str) -> None:
    assert removals([event(op)]) == ()


@pytest.mark.parametrize("op", ["replace", "create-replacement", "delete-replaced", "import-replacement"])
def test_every_step_of_a_replacement_counts_as_one(op: str) -> None:
    (removal,) = removals([event(op)])
    assert removal.operation == "replace"


@pytest.mark.parametrize("order", [1, -1])
def test_the_steps_of_one_replacement_are_one_removal_with_its_reasons(order: int) -> None:
    steps = [
        event("delete-replaced"),
        event("replace", keys=["bucket"], old={"inputs": {"bucket": "a"}}, new={"inputs": {"bucket": "b"}}),
    ][::order]
    (removal,) = removals(steps)
    assert removal.forced == (Forced(path="bucket", old='"a"', new='"b"'),)


def test_a_deletion_has_no_property_that_forces_it() -> None:
    (removal,) = removals([event("delete", keys=["bucket"], old={"inputs": {"bucket": "a"}, "retainOnDelete": True})])
    assert (removal.operation, removal.forced, removal.retained) == ("delete", (), True)


def test_only_properties_that_force_a_replacement_are_reasons_at_any_depth() -> None:
    detail = {
        "tags.a": {"diffKind": "update"},
        "rules[1].name": {"diffKind": "update-replace"},
        'map["a.b"]': {"diffKind": "add-replace"},
    }
    old = {"inputs": {"rules": [{}, {"name": "x"}], "map": {}}}
    new = {"inputs": {"rules": [{}, {"name": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}], "map": {"a.b": 1}}}
    (removal,) = removals([event("replace", detailedDiff=detail, keys=["rules", "map"], old=old, new=new)])
    assert removal.forced == (
        Forced(path='map["a.b"]', old="not set", new="1"),
        Forced(path="rules[1].name", old='"x"', new="known only after the update"),
    )


def test_a_long_value_is_shortened() -> None:
    (removal,) = removals([event("replace", keys=["bucket"], old={"inputs": {"bucket": "x" * 500}})])
    assert len(removal.forced[0].old) < 110


@pytest.mark.parametrize("line", ["no event", '{"resourcePreEvent": {"metadata": {"urn": "u"}}}', "[1]"])
def test_an_unreadable_log_is_an_error_and_not_an_empty_plan(line: str) -> None:
    with pytest.raises(SlipwayError, match="can't be evaluated"):
        removals([line])


def test_an_empty_log_removes_nothing() -> None:
    assert removals(["", "\n", '{"cancelEvent": {}}']) == ()

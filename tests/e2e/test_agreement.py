"""The comparison itself: it finds what differs, and leaves out what may differ."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.agreement import differences, errors, types

URN = "urn:pulumi:dev::slipway::slipway:tenancy:Team$kubernetes:core/v1:ConfigMap::settings"
STEP: dict[str, Any] = {
    "op": "replace",
    "urn": URN,
    "replaceReasons": ["data.a"],
    "detailedDiff": {"data.a": {"kind": "update-replace", "inputDiff": True}},
    "newState": {"inputs": {"data": {"a": "2"}, "metadata": {"name": "settings"}}},
}


def answer(*steps: dict[str, Any], **more: Any) -> str:
    aws = {"op": "update", "urn": "urn:pulumi:dev::slipway::aws:s3/bucket:Bucket::data"}
    return json.dumps({"steps": [aws, *steps], **more})


def changed(edit: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    step = copy.deepcopy(STEP)
    edit(step)
    return step


def test_equal_answers_agree_and_parts_of_a_replacement_are_no_steps() -> None:
    parts = [{**STEP, "op": op, "detailedDiff": None} for op in ("create-replacement", "delete-replaced")]
    assert differences(answer(*parts, STEP), answer(STEP)) == []
    assert types(answer(*parts, STEP), "replace") == {"kubernetes:core/v1:ConfigMap"}


@pytest.mark.parametrize(
    ("edit", "where"),
    [
        (lambda step: step.update(op="update"), "operation"),
        (lambda step: step.update(replaceReasons=["metadata.name"]), "replaced by"),
        (lambda step: step["detailedDiff"]["data.a"].update(kind="update"), "diff of data.a"),
        (lambda step: step["detailedDiff"].update(b={"kind": "add"}), "diff of b"),
        (lambda step: step["newState"]["inputs"]["data"].update(a="3"), "input data.a"),
        (lambda step: step["newState"]["inputs"].pop("metadata"), "input metadata"),
    ],
)
def test_a_difference_is_found_and_named(edit: Callable[[dict[str, Any]], object], where: str) -> None:
    (found,) = differences(answer(STEP), answer(changed(edit)))
    assert found.where == where
    assert str(found).startswith(f"settings (kubernetes:core/v1:ConfigMap): {where}: official ")


def test_a_resource_that_one_of_them_does_not_plan_is_a_difference() -> None:
    (found,) = differences(answer(STEP), answer())
    assert (found.where, found.official, found.ours) == ("operation", "replace", None)


def test_from_where_the_old_value_is_printed_is_none() -> None:
    assert (
        differences(answer(STEP), answer(changed(lambda step: step["detailedDiff"]["data.a"].pop("inputDiff")))) == []
    )


def test_errors_of_a_preview_are_listed() -> None:
    diagnostics = [{"severity": "error", "message": "no"}, {"severity": "warning", "message": "perhaps"}]
    assert errors(answer(diagnostics=diagnostics)) == ["no"]
    assert errors(answer()) == []

from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.kubernetes.drift import drifted, imported

INPUTS: dict[str, Any] = {
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "replicas": 2,
        "cpu": "1000m",
        "args": ["a", "b"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
    },
}
RECORDED: dict[str, Any] = {
    "metadata": {"name": "web", "labels": {"app": "web", "added": "by-admission"}, "uid": "1"},
    "spec": {
        "replicas": 2,
        "cpu": "1",
        "args": ["a", "b"],
        "env": [{"name": "A", "value": "1", "default": True}, {"name": "B", "value": "2", "default": True}],
        "strategy": "defaulted",
    },
}


def live(**spec: Any) -> dict[str, Any]:
    return {**RECORDED, "spec": {**RECORDED["spec"], **spec}}


def test_defaults_and_other_spellings_of_the_api_server_are_not_drift() -> None:
    assert drifted(INPUTS, RECORDED, RECORDED) == INPUTS


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"replicas": 5}, {"replicas": 5}),
        ({"cpu": "2"}, {"cpu": "2"}),
        ({"args": ["a"]}, {"args": ["a"]}),
        ({"args": ["a", "b", "c"]}, {"args": ["a", "b", "c"]}),
        ({"env": [{"name": "A", "value": "1", "default": True}]}, {"env": [{"name": "A", "value": "1"}]}),
        (
            {"env": [{"name": "A", "value": "9", "default": True}, RECORDED["spec"]["env"][1]]},
            {"env": [{"name": "A", "value": "9"}, {"name": "B", "value": "2"}]},
        ),
        (
            {"env": [*RECORDED["spec"]["env"], {"name": "C", "value": "3"}]},
            {"env": [*INPUTS["spec"]["env"], {"name": "C", "value": "3"}]},
        ),
        ({"strategy": "changed"}, {}),
        ({"new": 1}, {}),
    ],
)
def test_only_changes_of_fields_that_the_program_set_are_shown(
    change: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = drifted(INPUTS, RECORDED, live(**change))
    assert found == {**INPUTS, "spec": {**INPUTS["spec"], **expected}}


def test_a_removed_field_is_missing_in_the_inputs() -> None:
    spec = {key: value for key, value in RECORDED["spec"].items() if key != "replicas"}
    assert "replicas" not in drifted(INPUTS, RECORDED, {**RECORDED, "spec": spec})["spec"]


def test_a_field_that_the_api_server_never_returned_is_kept() -> None:
    inputs = {**INPUTS, "emptyThing": {}}
    assert drifted(inputs, RECORDED, RECORDED)["emptyThing"] == {}


def test_only_changes_of_the_programs_own_labels_are_drift() -> None:
    metadata = {"name": "web", "labels": {"app": "other", "added": "x"}}
    assert drifted(INPUTS, RECORDED, {**RECORDED, "metadata": metadata})["metadata"]["labels"] == {"app": "other"}


def test_an_imported_object_is_described_without_server_metadata() -> None:
    metadata = {"name": "a", "uid": "1", "resourceVersion": "2"}
    live = {"kind": "X", "metadata": metadata, "status": {}, "spec": {"a": 1}}
    assert imported(live) == {"kind": "X", "metadata": {"name": "a"}, "spec": {"a": 1}}

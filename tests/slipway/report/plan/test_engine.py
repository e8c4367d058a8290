"""A plan of the engine is read from either of its two formats, with the engine's own replacements."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.rpc.wire import UNKNOWN
from slipway.report.plan import Plan, Verb
from slipway.report.plan.engine import read
from spec.errors import SlipwayError

FILES = "aws:efs/fileSystem:FileSystem"
URN = f"urn:pulumi:s::slipway::{FILES}::files"
OLD, NEW = {"encrypted": False, "tags": {"a": "1"}}, {"encrypted": True, "tags": {"a": "2"}}
DETAIL = {"encrypted": "update-replace", "tags.a": "update"}


def state(inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"urn": URN, "type": FILES, "inputs": inputs, **more}


def preview(*steps: dict[str, Any]) -> str:
    return json.dumps({"steps": list(steps), "changeSummary": {}})


def events(*steps: dict[str, Any]) -> str:
    lines = [{"sequence": number, "resourcePreEvent": {"metadata": step}} for number, step in enumerate(steps)]
    return "\n".join(map(json.dumps, [{"sequence": 9, "preludeEvent": {}}, *lines])) + "\n"


def plan(tmp_path: Path, text: str) -> Plan:
    path = tmp_path / "plan.json"
    path.write_text(text)
    return read(path)


@pytest.mark.parametrize("form", ["preview", "events"])
def test_a_replacement_is_listed_once_with_its_reasons(tmp_path: Path, form: str) -> None:
    if form == "preview":
        detail = {path: {"kind": kind, "inputDiff": True} for path, kind in DETAIL.items()}
        step = {"op": "replace", "urn": URN, "oldState": state(OLD), "newState": state(NEW), "detailedDiff": detail}
        text = preview(step, {**step, "op": "delete-replaced", "newState": None, "detailedDiff": None})
    else:
        detail = {path: {"diffKind": kind, "inputDiff": True} for path, kind in DETAIL.items()}
        event = {"op": "create-replacement", "urn": URN, "type": FILES, "old": state(OLD), "new": state(NEW)}
        text = events({**event, "detailedDiff": detail}, {**event, "op": "delete-replaced", "new": None})
    (found,) = plan(tmp_path, text).changes
    assert (found.verb, found.dangerous) == (Verb.REPLACE, True)
    properties = {one.path: (one.before, one.after, one.forces) for one in found.properties}
    assert properties == {"encrypted": ("false", "true", True), "tags.a": ("1", "2", False)}


def test_unchanged_resources_are_counted_and_components_are_skipped(tmp_path: Path) -> None:
    pool = "urn:pulumi:s::slipway::slipway:pools:ManagedPool::p"
    text = preview(
        {"op": "same", "urn": URN, "newState": state(OLD)},
        {"op": "create", "urn": pool, "newState": {"type": "slipway:pools:ManagedPool"}},
        {"op": "create", "urn": f"{URN}-2", "newState": state(NEW)},
        {"op": "read", "urn": f"{URN}-3", "newState": state(NEW)},
    )
    found = plan(tmp_path, text)
    assert ([change.verb for change in found.changes], found.unchanged) == ([Verb.CREATE], 1)


def test_secrets_and_unknowns_are_placeholders(tmp_path: Path) -> None:
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "hush"}
    unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
    step = {"op": "update", "urn": URN, "oldState": state({"key": secret, "kmsKeyId": "k"})}
    step |= {"newState": state({"key": {**secret, "ciphertext": "hush2"}, "kmsKeyId": unknown})}
    (found,) = plan(tmp_path, preview({**step, "diffReasons": ["key", "kmsKeyId"]})).changes
    assert [(one.before, one.after) for one in found.properties] == [
        ("[secret]", "[secret]"),
        ("k", "known after the update"),
    ]


@pytest.mark.parametrize("text", ["", "[]", '{"steps": [{}]}', "no json", '{"a": 1}', '{"sequence": 1}\n{"b": 2}'])
def test_a_file_that_is_not_a_plan_is_refused_with_a_fix(tmp_path: Path, text: str) -> None:
    with pytest.raises(SlipwayError, match=r"plan\.json: is not a Pulumi plan .*STACK --json") as caught:
        plan(tmp_path, text)
    assert caught.value.exit_code == 2


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SlipwayError, match=r"none\.json: can't be read"):
        read(tmp_path / "none.json")


def test_a_replacement_that_follows_from_another_has_it_as_its_cause(tmp_path: Path) -> None:
    mount = "aws:efs/mountTarget:MountTarget"

    def replaced(name: str, before: str, after: str) -> dict[str, Any]:
        states = [{"urn": name, "type": mount, "id": name, "inputs": {"fileSystemId": one}} for one in (before, after)]
        return {"op": "replace", "urn": f"urn:pulumi:s::slipway::{mount}::{name}", "type": mount,
                "keys": ["fileSystemId"], "old": states[0], "new": states[1]}  # fmt: skip

    files = {"op": "replace", "urn": URN, "type": FILES, "keys": ["encrypted"],
             "old": state(OLD, id="fs-1"), "new": state(NEW)}  # fmt: skip
    steps = (
        files,
        replaced("follows", "fs-1", UNKNOWN),
        replaced("other", "fs-2", UNKNOWN),
        replaced("own", "fs-1", "x"),
    )
    causes = {one.name: one.cause for one in plan(tmp_path, events(*steps)).changes}
    assert causes == {"files": "", "follows": "files", "other": "", "own": ""}


def test_components_are_not_counted(tmp_path: Path) -> None:
    component = {"op": "same", "urn": "urn:pulumi:s::slipway::slipway:a:B$slipway:c:D::x", "type": "slipway:c:D"}
    resource = {"op": "same", "urn": URN, "type": FILES}
    assert plan(tmp_path, events(component, resource)).unchanged == 1


def test_a_list_of_plain_values_is_shown_whole(tmp_path: Path) -> None:
    old, new = {"cidrs": ["b"], "rules": [{"port": 1}]}, {"cidrs": ["a", "b"], "rules": [{"port": 2}]}
    detail = {"cidrs[0]": "update", "cidrs[1]": "add-replace", "rules[0].port": "update"}
    differences = {path: {"kind": kind} for path, kind in detail.items()}
    step = {"op": "update", "urn": URN, "oldState": state(old), "newState": state(new), "detailedDiff": differences}
    (change,) = plan(tmp_path, preview(step)).changes
    assert [(one.path, one.before, one.after, one.forces) for one in change.properties] == [
        ("cidrs", '["b"]', '["a", "b"]', True),
        ("rules[0].port", "1", "2", False),
    ]

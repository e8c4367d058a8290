from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.rpc import diff, paths
from slipway.sandbox.rpc.diff import ADD, DEFAULTS_KEY, DELETE, UPDATE, Diff


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2}, {"a": UPDATE}),
        ({}, {"a": {"b": 1}}, {"a": ADD}),
        ({"a": {"b": 1, "c": 1}}, {"a": {"b": 2}}, {"a.b": UPDATE, "a.c": DELETE}),
        ({"l": [1, 2]}, {"l": [1]}, {"l[1]": DELETE}),
        ({"t": {"x.y/z": "1"}}, {"t": {"x.y/z": "2"}}, {'t["x.y/z"]': UPDATE}),
        ({"a": 1}, {"a": True}, {"a": UPDATE}),
        ({"__private": 1}, {}, {}),
        ({"a": 1, "b": {"c": 1}, DEFAULTS_KEY: ["a", "b"]}, {"b": {}}, {}),
        ({"a": [1, 2], DEFAULTS_KEY: ["a"]}, {"a": [1]}, {"a[1]": DELETE}),
    ],
    ids=["same", "leaf", "added", "nested", "list", "quoted", "kind", "private", "imported", "imported-list"],
)
def test_changes_are_reported_leaf_by_leaf(old: dict[str, Any], new: dict[str, Any], changes: dict[str, int]) -> None:
    assert {paths.write(change.path): change.kind for change in diff.compare(old, new)} == changes


def test_a_forced_change_replaces_and_an_ignored_one_does_not() -> None:
    found = Diff(diff.compare({"a": {"x": 1}, "b": 1}, {"a": {"x": 2}, "b": 2}), delete_before_replace=True)
    forced = found.replacing(lambda path: path[0] == "a")
    message = forced.message()
    assert list(message.replaces) == ["a"]
    assert message.deleteBeforeReplace
    assert message.detailedDiff["a.x"].kind == UPDATE + 1
    kept = forced.without_ignored(["a.x"]).message()
    assert list(kept.diffs) == ["b"]
    assert not kept.replaces
    assert not kept.deleteBeforeReplace


def test_the_reason_of_a_replacement_can_be_the_whole_path() -> None:
    found = Diff(diff.compare({"a": {"x": 1}}, {"a": {"x": 2}}), whole_paths=True).replacing(lambda _: True)
    assert list(found.message().replaces) == ["a.x"]


def test_no_change_is_reported_as_none() -> None:
    assert Diff().message().changes == Diff().message().DIFF_NONE

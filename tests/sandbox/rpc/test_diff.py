"""Property paths, and differences between old and new inputs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.rpc import diff
from sandbox.rpc.diff import ADD, DEFAULTS_KEY, DELETE, UPDATE, Diff

TEXTS = [
    ("scalingConfig.desiredSize", ("scalingConfig", "desiredSize")),
    ('tags["kubernetes.io/role/elb"]', ("tags", "kubernetes.io/role/elb")),
    ("rules[0].id", ("rules", 0, "id")),
    ('a["x\\"y"]', ("a", 'x"y')),
]


@pytest.mark.parametrize(("text", "path"), TEXTS)
def test_a_path_is_read_and_written_as_pulumi_does(text: str, path: diff.Path) -> None:
    assert diff.parse(text) == path
    assert diff.write(path) == text


@given(st.lists(st.one_of(st.text(min_size=1), st.integers(0, 99)), min_size=1).filter(lambda p: isinstance(p[0], str)))
def test_any_path_is_unchanged_after_writing_and_parsing(parts: list[str | int]) -> None:
    assert diff.parse(diff.write(tuple(parts))) == tuple(parts)


@pytest.mark.parametrize(
    ("pattern", "path", "is_ignored"),
    [
        ("scalingConfig.desiredSize", ("scalingConfig", "desiredSize"), True),
        ("scalingConfig", ("scalingConfig", "desiredSize"), True),
        ("scalingConfig.desiredSize", ("scalingConfig",), False),
        ("scalingConfig.desiredSize", ("scalingConfig", "maxSize"), False),
        ("rules[*].id", ("rules", 3, "id"), True),
        ("*", ("anything",), True),
        ("[broken", ("broken",), False),
    ],
)
def test_ignore_changes_covers_everything_below_a_path(pattern: str, path: diff.Path, is_ignored: bool) -> None:
    assert diff.ignored(path, [pattern]) is is_ignored


def test_a_text_that_is_not_a_path_is_refused() -> None:
    with pytest.raises(ValueError, match="can't be read from '\\[x\\]' on"):
        diff.parse("a[x]")


def test_a_path_can_be_written_without_indexes() -> None:
    assert diff.without_indexes(("ingress", 0, "fromPort")) == "ingress.fromPort"


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
    assert {diff.write(change.path): change.kind for change in diff.compare(old, new)} == changes


def test_a_preview_keeps_what_the_cloud_added_and_drops_what_the_program_took_back() -> None:
    before = {"spec": {"type": "ClusterIP", "ports": [1]}, "metadata": {"labels": {"a": "1", "b": "2"}}, "gone": 1}
    live = {"spec": {**before["spec"], "clusterIP": "10.0.0.9"}, "metadata": before["metadata"], "status": {"x": 1}}  # type: ignore[dict-item]
    news = {"spec": {"type": "NodePort", "ports": [1]}, "metadata": {"labels": {"a": "3"}}}
    assert diff.overlaid({**live, "gone": 1}, before, news) == {
        "spec": {"type": "NodePort", "ports": [1], "clusterIP": "10.0.0.9"},
        "metadata": {"labels": {"a": "3"}},
        "status": {"x": 1},
    }


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

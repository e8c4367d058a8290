from typing import Any, Final

import pytest
from google.protobuf import json_format, struct_pb2
from hypothesis import given
from hypothesis import strategies as st
from pulumi.runtime import rpc as sdk

from sandbox.rpc import diff, wire
from sandbox.rpc.diff import ADD, DEFAULTS_KEY, DELETE, UPDATE, Diff
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.wire import UNKNOWN, Secrets
from tests.support.cases import beside

CASES: Final = beside(__file__)

SIGNATURE = sdk._special_sig_key


def struct(value: dict[str, Any]) -> struct_pb2.Struct:
    return json_format.ParseDict(value, struct_pb2.Struct())


def secret(value: Any) -> dict[str, Any]:
    return {SIGNATURE: sdk._special_secret_sig, "value": value}


def plain(message: struct_pb2.Struct) -> Any:
    return json_format.MessageToDict(message)


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        ({"n": 3.0, "f": 1.5, "b": True, "s": "x"}, {"n": 3, "f": 1.5, "b": True, "s": "x"}),
        ({"null": None, "in": {"null": None, "kept": 0}}, {"in": {"kept": 0}}),
        ({"list": [1.0, None, {"a": 2.0}]}, {"list": [1, None, {"a": 2}]}),
        ({"s": secret("x"), "in": {"s": secret({"a": 1.0})}}, {"s": "x", "in": {"s": {"a": 1}}}),
        ({"o": {SIGNATURE: sdk._special_output_value_sig}}, {"o": UNKNOWN}),
        ({"o": {SIGNATURE: sdk._special_output_value_sig, "value": "x"}}, {"o": "x"}),
        ({"r": {SIGNATURE: sdk._special_resource_sig, "urn": "urn:x", "id": "i-1"}}, {"r": "i-1"}),
        ({"u": UNKNOWN}, {"u": UNKNOWN}),
    ],
)
def test_values_of_the_engine_are_decoded(sent: dict[str, Any], seen: dict[str, Any]) -> None:
    found = wire.decode(struct(sent))
    assert found == seen
    assert all(type(found[key]) is type(seen[key]) for key in seen)


@pytest.mark.parametrize("signature", [sdk._special_asset_sig, sdk._special_archive_sig])
def test_files_come_back_as_they_were_sent_and_change_by_their_content(signature: str) -> None:
    def file(path: str, content: str) -> dict[str, Any]:
        return wire.decode(struct({"files": [{SIGNATURE: signature, "path": path, "hash": content}]}))

    there = file("app.zip", "1a")
    assert wire.decode(wire.encode(there)) == there
    assert diff.compare(there, file("elsewhere/app.zip", "1a")) == ()
    assert [diff.write(each.path) for each in diff.compare(there, file("app.zip", "2b"))] == ["files[0]"]


def test_a_value_of_an_unknown_kind_is_refused_by_its_path() -> None:
    sent = struct({"files": [{SIGNATURE: "0123", "text": "x"}]})
    with pytest.raises(ProviderError, match=r"files\[0\]: a value with the unknown signature 0123"):
        wire.decode(sent)


def test_a_secret_is_known_by_path_and_by_text() -> None:
    found = wire.secrets_in(struct({"tags": {"a": secret("hunter2"), "b": "x"}, "list": ["x", secret("y")]}))
    assert found.mask == {"tags": {"a": True}, "list": True}
    assert {"hunter2", "y"} <= found.texts


def test_an_unknown_is_not_a_secret_text() -> None:
    assert UNKNOWN not in wire.secrets_in(struct({"a": secret(UNKNOWN)})).texts


@pytest.mark.parametrize(
    ("value", "hidden"),
    [
        ({"tagsAll": {"a": "hunter2", "b": "x"}}, {"tagsAll": {"a": secret("hunter2"), "b": "x"}}),
        ({"script": "echo hunter2"}, {"script": secret("echo hunter2")}),
        ({"data": {"k": "aHVudGVyMg=="}}, {"data": {"k": secret("aHVudGVyMg==")}}),
        ({"tags": {"a": "other", "b": "x"}}, {"tags": {"a": secret("other"), "b": "x"}}),
        ({"list": ["x"]}, {"list": secret(["x"])}),
        ({"n": 7}, {"n": secret(7.0)}),
        ({"other": "x y z"}, {"other": "x y z"}),
    ],
    ids=["copied", "contained", "base64", "same-place", "list", "number-by-place", "unrelated"],
)
def test_a_value_that_repeats_a_secret_is_secret(value: dict[str, Any], hidden: dict[str, Any]) -> None:
    sent = {"tags": {"a": secret("hunter2")}, "list": [secret("y")], "n": secret(7.0)}
    assert plain(wire.encode(value, wire.secrets_in(struct(sent)))) == hidden


def test_a_value_that_cannot_be_sent_is_reported_by_path() -> None:
    with pytest.raises(ProviderError, match=r"a\.b\[0\]: a set can't be sent"):
        wire.encode({"a": {"b": [{1}]}})


def test_a_short_secret_counts_only_if_the_value_equals_it() -> None:
    secrets = Secrets(texts=frozenset({"a", "hunter2"}))
    assert secrets.taints("a")
    assert not secrets.taints("banana")
    assert secrets.redact("a: got hunter2") == "a: got [secret]"


@pytest.mark.parametrize(("value", "meant"), [('{"tags": {}}', {"tags": {}}), ("plain", "plain"), (3, 3), (None, None)])
def test_a_nested_provider_argument_is_json(value: Any, meant: Any) -> None:
    assert wire.nested(value) == meant


def test_an_unknown_is_found_at_any_depth() -> None:
    assert wire.has_unknown({"a": [{"b": UNKNOWN}]})
    assert not wire.has_unknown({"a": [{"b": "x"}]})


def test_nulls_in_the_values_of_a_helm_release_remove_defaults_and_are_kept() -> None:
    values = {"controller": {"resources": {"limits": {"cpu": None}}}, "list": [{"a": None}]}
    struct = wire.encode({"values": values, "other": {"a": None}, "values_of": {"a": None}})
    assert wire.decode(struct) == {"values": values, "other": {}, "values_of": {}}


# Property paths, and differences between old and new inputs.


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


@pytest.mark.parametrize(("pattern", "path", "is_ignored"), CASES["ignore changes covers everything below a path"])
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

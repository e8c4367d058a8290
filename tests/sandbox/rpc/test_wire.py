from typing import Any

import pytest
from google.protobuf import json_format, struct_pb2
from pulumi.runtime import rpc as sdk

from sandbox.rpc import wire
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.wire import UNKNOWN, Secrets

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


def test_an_asset_is_refused_by_its_path() -> None:
    sent = struct({"files": [{SIGNATURE: sdk._special_asset_sig, "text": "x"}]})
    with pytest.raises(ProviderError, match=r"files\[0\]: the sandbox does not support an asset"):
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

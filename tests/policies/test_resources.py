"""Values that are known, unknown, missing, or of the wrong type, and the engine's messages that they are read from."""

from typing import Any

import pulumi
import pytest
from google.protobuf import json_format, struct_pb2
from pulumi_policy import proxy
from pulumi_policy.deserialize import deserialize_properties
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from policies.resources.access import UNKNOWN, Node, WrongTypeError, plain, texts, tree, unknowns
from policies.resources.reading import Unread
from tests.policies.support import SECRET_SIGNATURE

PROPS: dict[str, Any] = {
    "map": {"known": "text", "unknown": UNKNOWN_STRING_VALUE},
    "list": ["a", UNKNOWN_STRING_VALUE, "b"],
    "unknown": UNKNOWN_STRING_VALUE,
    "null": None,
    "number": 20.0,
    "flag": False,
}
ROOT = tree(unknown_checking_proxy(PROPS))


def test_an_unknown_value_does_not_hide_other_values() -> None:
    assert ROOT["map"]["known"].text() == "text"
    assert ROOT["map"]["unknown"].unknown
    assert texts(ROOT["list"].items()) == {"a", "b"}
    assert unknowns(ROOT["list"].items()) == 1
    assert [node.path for node in ROOT.walk()] == ["map.known", "list[0]", "list[2]", "number", "flag"]


def test_values_below_an_unknown_are_unknown_and_below_a_missing_one_missing() -> None:
    assert ROOT["unknown"]["a"]["b"].unknown
    assert ROOT["null"]["a"].missing
    assert ROOT.at("absent", "a").missing
    assert ROOT["unknown"].items() == []
    assert ROOT["unknown"].fields() == {}


@pytest.mark.parametrize(
    ("raw", "default", "is_true", "is_false"),
    [
        (True, False, True, False),
        (False, True, False, True),
        ("true", False, True, False),
        ("false", True, False, True),
        (None, True, True, False),
        (None, False, False, True),
    ],
)
def test_a_missing_flag_has_the_default(raw: Any, default: bool, is_true: bool, is_false: bool) -> None:
    node = tree({"flag": raw})["flag"]
    assert (node.is_true(default=default), node.is_false(default=default)) == (is_true, is_false)


@pytest.mark.parametrize("default", [True, False])
def test_an_unknown_flag_is_neither_true_nor_false(default: bool) -> None:
    assert not ROOT["unknown"].is_true(default=default)
    assert not ROOT["unknown"].is_false(default=default)


def test_a_missing_value_is_not_accepted_and_an_unknown_one_may_be() -> None:
    assert ROOT["null"].is_not("x")
    assert ROOT["flag"].is_not("x")
    assert not ROOT["flag"].is_not("x", False)
    assert not ROOT["unknown"].is_not("x")


def test_numbers_are_read_from_floats_and_strings() -> None:
    assert ROOT["number"].number() == 20
    assert ROOT["number"].shown == "20"
    assert tree({"n": "7"})["n"].number() == 7
    assert ROOT["unknown"].number() is None


@pytest.mark.parametrize(
    ("read", "raw"),
    [
        (lambda node: node["key"], "text"),
        (lambda node: node.items(), {"a": 1}),
        (lambda node: node.fields(), ["a"]),
        (lambda node: node.text(), 1),
        (lambda node: node.number(), "many"),
        (lambda node: node.number(), True),
        (lambda node: node.truth(), "yes"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_its_path(read: Any, raw: Any) -> None:
    with pytest.raises(WrongTypeError, match=r"^place must be "):
        read(Node("place", raw))


def test_a_long_value_is_truncated_in_messages() -> None:
    assert len(tree({"a": "x" * 500})["a"].shown) < 100
    assert ROOT["null"].shown == "not set"
    assert ROOT["unknown"].shown == "not known before the update"
    assert ROOT["flag"].shown == "false"


ASSET = {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17"}
SENTINELS = [value for name, value in vars(proxy).items() if name.startswith("UNKNOWN_")]


def message(properties: dict[str, Any]) -> struct_pb2.Struct:
    return json_format.ParseDict(properties, struct_pb2.Struct())


@pytest.mark.parametrize(
    "value",
    [
        "text", "", 3.0, True, False, None, [], {},
        {"deep": [{"er": [None, 1.5, {"est": ""}]}]},
        {**SECRET_SIGNATURE, "value": {"password": ["hidden"]}},
        [{**SECRET_SIGNATURE, "value": None}],
        *SENTINELS,
        [{"beside": SENTINELS[0], "known": 1.0}],
        {**SECRET_SIGNATURE, "value": SENTINELS[2]},
    ],
)  # fmt: skip
def test_values_are_those_that_the_sdk_reads(value: Any) -> None:
    properties = message({"it": value, "other": 1.0})
    by_the_sdk = plain(proxy.unknown_checking_proxy(deserialize_properties(json_format.MessageToDict(properties))))
    assert Unread(properties).values == by_the_sdk


def test_every_sentinel_of_the_sdk_is_unknown() -> None:
    assert len(SENTINELS) == 7
    assert all(value is UNKNOWN for value in Unread(message(dict.fromkeys(SENTINELS, SENTINELS[1]))).values.values())
    assert all(Unread(message({"it": sentinel})).values["it"] is UNKNOWN for sentinel in SENTINELS)


def test_values_with_other_signatures_are_deserialized_by_the_sdk() -> None:
    asset = Unread(message({"it": {**ASSET, "text": "hello"}})).values["it"]
    assert isinstance(asset, pulumi.StringAsset)
    assert asset.text == "hello"
    with pytest.raises(AssertionError, match="Unrecognized signature"):
        _ = Unread(message({"it": {next(iter(ASSET)): "new"}})).values

"""Messages of the engine are parsed like the SDK parses them, without its proxies."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest
from google.protobuf import json_format, struct_pb2
from pulumi_policy import proxy
from pulumi_policy.deserialize import deserialize_properties

from policies.resources.access import UNKNOWN, plain
from policies.resources.reading import Unread
from tests.policies.support import SECRET_SIGNATURE

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

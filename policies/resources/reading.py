"""Properties in the engine's messages, parsed once for all rules: the SDK parses them again for each rule.

Sentinels of unknown values and signatures of secrets are those of the SDK. The SDK deserializes values with other
signatures, which are assets and archives.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from google.protobuf import json_format, struct_pb2
from pulumi_policy import deserialize, proxy

from policies.resources.access import UNKNOWN

_UNKNOWN: Final = frozenset(
    value for name, value in vars(proxy).items() if name.startswith("UNKNOWN_") and name.endswith("_VALUE")
)


class Unread:
    """Properties in a message of the engine, parsed on first access."""

    def __init__(self, message: struct_pb2.Struct) -> None:
        self._message = message

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The properties: dicts, lists and scalars, with `UNKNOWN` for unknown values."""
        return {key: _value(value) for key, value in self._message.fields.items()}


def _value(value: struct_pb2.Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        text = value.string_value
        return UNKNOWN if text in _UNKNOWN else text
    if kind == "struct_value":
        return _struct(value.struct_value)
    if kind == "list_value":
        return [_value(item) for item in value.list_value.values]
    # A number or a boolean; null is None.
    return getattr(value, kind) if kind not in (None, "null_value") else None


def _struct(message: struct_pb2.Struct) -> Any:
    fields = message.fields
    if deserialize.SPECIAL_SIG_KEY not in fields:
        return {key: _value(value) for key, value in fields.items()}
    if fields[deserialize.SPECIAL_SIG_KEY].string_value == deserialize.SPECIAL_SECRET_SIG and "value" in fields:
        return _value(fields["value"])
    return deserialize.deserialize_properties({"it": json_format.MessageToDict(message)})["it"]

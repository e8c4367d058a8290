"""Protobuf structs <-> plain Python values; which of them are secret, and how an answer keeps them so."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from google.protobuf import struct_pb2
from pulumi.runtime import rpc as sdk

from sandbox.rpc.errors import ProviderError

# Which values of a message are secret, and how the answer keeps them secret.
#
# The engine can strip secrets for a provider and mark outputs of the same name as secret, but an output that repeats
# the value under another name is then in clear text in the state: `tagsAll` repeats `tags` (seen, pulumi 3.258), and
# the `data` of a Kubernetes Secret repeats `stringData` in base64. So our providers accept secrets, and every output at
# the path of a secret input, or whose text contains the text of one, is marked as secret.

Mask: TypeAlias = "bool | dict[str, Mask]"

MIN_CONTAINED = 4
"""A secret text shorter than this counts only if a value equals it: "a" is contained in nearly everything."""

REDACTED = "[secret]"


@dataclass(frozen=True)
class Secrets:
    """The secrets of one message: `mask` by path, `texts` by value. Numbers and booleans are known by path only."""

    mask: Mask = False
    texts: frozenset[str] = field(default_factory=frozenset)

    def __or__(self, other: Secrets) -> Secrets:
        return Secrets(merge_masks(self.mask, other.mask), self.texts | other.texts)

    def taints(self, text: str) -> bool:
        """Whether the text repeats a secret."""
        return any(text == secret or (len(secret) >= MIN_CONTAINED and secret in text) for secret in self.texts)

    def redact(self, message: str) -> str:
        """The message without the secrets of at least MIN_CONTAINED characters: for errors that quote a value."""
        for secret in sorted(self.texts, key=len, reverse=True):
            if len(secret) >= MIN_CONTAINED:
                message = message.replace(secret, REDACTED)
        return message


NO_SECRETS = Secrets()


def merge_masks(left: Mask, right: Mask) -> Mask:
    """The paths that are secret in either mask."""
    if left is True or right is True:
        return True
    if not isinstance(left, dict):
        return right
    if not isinstance(right, dict):
        return left
    return {key: merge_masks(left.get(key, False), right.get(key, False)) for key in {**left, **right}}


def texts_of(value: Any) -> frozenset[str]:
    """Every text in a secret value, with the forms in which providers repeat it: JSON-escaped and base64."""
    if isinstance(value, dict):
        return frozenset().union(*(texts_of(item) for item in value.values()))
    if isinstance(value, list):
        return frozenset().union(*(texts_of(item) for item in value))
    if not isinstance(value, str) or not value:
        return frozenset()
    escaped = json.dumps(value)[1:-1]
    encoded = base64.b64encode(value.encode()).decode()
    return frozenset({value, escaped, encoded})


UNKNOWN: str = sdk.UNKNOWN
_SIGNATURE: str = sdk._special_sig_key
_SECRET: str = sdk._special_secret_sig
_OUTPUT: str = sdk._special_output_value_sig
_RESOURCE: str = sdk._special_resource_sig
_VALUES = "values"
"""Property of a Helm release; pulumi-kubernetes hands its nulls to Helm (provider/pkg/provider/helm_release.go: "null
values in Helm chart values are preserved by default", 4.34)."""
_FILES = frozenset({sdk._special_asset_sig, sdk._special_archive_sig})
"""Assets and archives. They stay as the engine sends them, with the hash of their content, and nothing opens them."""


def decode(struct: struct_pb2.Struct) -> dict[str, Any]:
    """The plain values of a struct. Raises ProviderError for a value of an unknown kind, naming the property."""
    return _decode_fields(struct, "")


def secrets_in(*structs: struct_pb2.Struct) -> Secrets:
    """The secrets of one or more structs."""
    secrets = NO_SECRETS
    for struct in structs:
        mask, texts = _secrets_of_fields(struct)
        secrets = secrets | Secrets(mask, frozenset(texts) - {UNKNOWN})
    return secrets


def encode(values: Mapping[str, Any], secrets: Secrets = NO_SECRETS) -> struct_pb2.Struct:
    """A struct of plain values, in which every value that repeats one of `secrets` is marked as secret."""
    struct = struct_pb2.Struct()
    mask = secrets.mask if isinstance(secrets.mask, dict) else {}
    for key, value in values.items():
        if value is not None:
            struct.fields[key].CopyFrom(_encode(value, mask.get(key, False), secrets, key))
    return struct


def has_unknown(value: Any) -> bool:
    """Whether an unknown is anywhere in the value."""
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return bool(value == UNKNOWN)


def content(value: Any) -> Any:
    """What says whether an asset or archive has changed: the hash of its content. None for any other value."""
    if not isinstance(value, Mapping) or value.get(_SIGNATURE) not in _FILES:
        return None
    return value.get("hash") or dict(value)


def nested(value: Any) -> Any:
    """The value of a provider argument that is not a string, which the SDKs send as JSON text."""
    if not isinstance(value, str) or value == UNKNOWN:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _signature(struct: struct_pb2.Struct) -> str | None:
    return struct.fields[_SIGNATURE].string_value if _SIGNATURE in struct.fields else None


def _decode_fields(struct: struct_pb2.Struct, path: str) -> dict[str, Any]:
    decoded = {key: _decode(value, f"{path}.{key}" if path else key) for key, value in struct.fields.items()}
    return {key: value for key, value in decoded.items() if value is not None or _keeps_nulls(path)}


def _keeps_nulls(path: str) -> bool:
    """Whether nulls in the map with this path have a meaning."""
    return path.partition(".")[0].partition("[")[0] == _VALUES


def _decode(value: struct_pb2.Value, path: str) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return _decode_struct(value.struct_value, path)
    if kind == "list_value":
        return [_decode(item, f"{path}[{index}]") for index, item in enumerate(value.list_value.values)]
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    return None if kind in (None, "null_value") else getattr(value, kind)


def _decode_struct(struct: struct_pb2.Struct, path: str) -> Any:
    signature = _signature(struct)
    if signature is None:
        return _decode_fields(struct, path)
    if signature in (_SECRET, _OUTPUT):
        return _decode(struct.fields["value"], path) if "value" in struct.fields else UNKNOWN
    if signature == _RESOURCE:
        return _decode(struct.fields["id"], path) if "id" in struct.fields else struct.fields["urn"].string_value
    if signature in _FILES:
        return _decode_fields(struct, path)
    msg = f"{path}: a value with the unknown signature {signature}; pass the text or the object itself"
    raise ProviderError(msg)


def _secrets_of_fields(struct: struct_pb2.Struct) -> tuple[Mask, Iterable[str]]:
    mask: dict[str, Mask] = {}
    texts: set[str] = set()
    for key, value in struct.fields.items():
        inner, inner_texts = _secrets_of(value)
        texts.update(inner_texts)
        if inner:
            mask[key] = inner
    return mask or False, texts


def _secrets_of(value: struct_pb2.Value) -> tuple[Mask, Iterable[str]]:
    """A list with a secret element is secret as a whole: its elements may be reordered by the cloud."""
    kind = value.WhichOneof("kind")
    if kind == "list_value":
        items = [_secrets_of(item) for item in value.list_value.values]
        return any(mask for mask, _ in items), {text for _, texts in items for text in texts}
    if kind != "struct_value":
        return False, ()
    struct = value.struct_value
    signature = _signature(struct)
    if signature == _SECRET or (signature == _OUTPUT and struct.fields["secret"].bool_value):
        return True, texts_of(_decode(value, ""))
    if signature == _OUTPUT and "value" in struct.fields:
        return _secrets_of(struct.fields["value"])
    return _secrets_of_fields(struct)


def _encode(value: Any, mask: Mask, secrets: Secrets, path: str) -> struct_pb2.Value:
    if mask is True or (mask and isinstance(value, (list, tuple))):
        return _secret(_encode(value, False, NO_SECRETS, path))
    if isinstance(value, str) and value != UNKNOWN and secrets.taints(value):
        return _secret(struct_pb2.Value(string_value=value))
    if isinstance(value, Mapping):
        below = mask if isinstance(mask, dict) else {}
        inner = struct_pb2.Struct()
        for key, item in value.items():
            if item is not None or _keeps_nulls(path):
                inner.fields[str(key)].CopyFrom(_encode(item, below.get(key, False), secrets, f"{path}.{key}"))
        return struct_pb2.Value(struct_value=inner)
    if isinstance(value, (list, tuple)):
        items = [_encode(item, False, secrets, f"{path}[{index}]") for index, item in enumerate(value)]
        return struct_pb2.Value(list_value=struct_pb2.ListValue(values=items))
    return _encode_scalar(value, path)


def _encode_scalar(value: Any, path: str) -> struct_pb2.Value:
    if value is None:
        return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
    if isinstance(value, bool):
        return struct_pb2.Value(bool_value=value)
    if isinstance(value, (int, float)):
        return struct_pb2.Value(number_value=value)
    if isinstance(value, str):
        return struct_pb2.Value(string_value=value)
    msg = f"{path}: a {type(value).__name__} can't be sent to the engine; use a string, number, bool, list or map"
    raise ProviderError(msg)


def _secret(value: struct_pb2.Value) -> struct_pb2.Value:
    wrapped = struct_pb2.Struct()
    wrapped.fields[_SIGNATURE].string_value = _SECRET
    wrapped.fields["value"].CopyFrom(value)
    return struct_pb2.Value(struct_value=wrapped)

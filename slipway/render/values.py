"""Property values for readers: secrets and unknowns are replaced by placeholders, and their paths are listed.

`[secret]` replaces a secret, so that a rendering can be committed or shown in a pull request; a list with a secret
element is secret as a whole. `[unknown]` replaces a value that only a cloud can provide: every output in a preview,
otherwise an output without a sample in `samples`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import struct_pb2
from pulumi.runtime import rpc as sdk

from slipway.sandbox.rpc import wire
from slipway.sandbox.rpc.secrets import REDACTED, Mask

SECRET: Final = REDACTED
UNKNOWN: Final = "[unknown]"


@dataclass(frozen=True)
class Values:
    """Properties of a resource, with the dotted paths of its secrets and unknowns."""

    plain: Mapping[str, Any]
    secrets: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()


def read(struct: struct_pb2.Struct) -> Values:
    """The values of a struct.

    Raises:
        ProviderError: It has an asset or archive, whose content is a local file.
    """
    paths: dict[str, list[str]] = {SECRET: [], UNKNOWN: []}
    plain = _masked(wire.decode(struct), wire.secrets_in(struct).mask, "", paths)
    return Values(plain, tuple(sorted(paths[SECRET])), tuple(sorted(paths[UNKNOWN])))


def is_plain(struct: struct_pb2.Struct) -> bool:
    """Whether a struct is a plain map, not the envelope of a secret or another special value."""
    return sdk._special_sig_key not in struct.fields


def _masked(value: Any, mask: Mask, path: str, paths: Mapping[str, list[str]]) -> Any:
    placeholder = SECRET if mask is True else UNKNOWN if value == wire.UNKNOWN else None
    if placeholder is not None:
        paths[placeholder].append(path)
        return placeholder
    if isinstance(value, dict):
        below = mask if isinstance(mask, dict) else {}
        inside = {key: f"{path}.{key}" if path else str(key) for key in value}
        return {key: _masked(item, below.get(key, False), inside[key], paths) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [_masked(item, False, f"{path}[{index}]", paths) for index, item in enumerate(value)]
    return value

"""Property values as a reader may see them: secrets and unknowns replaced by a mark, and their places listed.

`[secret]` stands for a secret, so that a rendering can be committed or shown in a pull request; a list with a secret
element is secret as a whole. `[unknown]` stands for a value that only a cloud can give: in a preview every output,
otherwise an output that `samples` has no row for.
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
    """Properties of a resource, with the dotted paths at which a secret or an unknown was."""

    plain: Mapping[str, Any]
    secrets: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()


def read(struct: struct_pb2.Struct) -> Values:
    """The values of a struct.

    Raises:
        ProviderError: There is an asset or archive, whose content is a file of this machine.
    """
    marks: dict[str, list[str]] = {SECRET: [], UNKNOWN: []}
    plain = _masked(wire.decode(struct), wire.secrets_in(struct).mask, "", marks)
    return Values(plain, tuple(sorted(marks[SECRET])), tuple(sorted(marks[UNKNOWN])))


def is_plain(struct: struct_pb2.Struct) -> bool:
    """Whether a struct is a map, and not the envelope of a secret or another special value."""
    return sdk._special_sig_key not in struct.fields


def _masked(value: Any, mask: Mask, path: str, marks: Mapping[str, list[str]]) -> Any:
    mark = SECRET if mask is True else UNKNOWN if value == wire.UNKNOWN else None
    if mark is not None:
        marks[mark].append(path)
        return mark
    if isinstance(value, dict):
        below = mask if isinstance(mask, dict) else {}
        inside = {key: f"{path}.{key}" if path else str(key) for key in value}
        return {key: _masked(item, below.get(key, False), inside[key], marks) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [_masked(item, False, f"{path}[{index}]", marks) for index, item in enumerate(value)]
    return value

"""Converting between Pulumi values and AWS API values by the API's own shapes, without a table of names.

AWS writes `CidrBlock`, Pulumi `cidrBlock`; AWS takes a list of subnets where Pulumi sometimes has one string. Members
are matched regardless of case, underscores and plural, values are converted to the type of the shape or of the SDK's
output annotation, and both forms of tags (map, list of Key and Value) are supported.
"""

from __future__ import annotations

import base64
import json
import re
import string
from collections.abc import Mapping
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape

from sandbox.rpc.wire import UNKNOWN


def normal(name: str) -> str:
    """The name without case, underscores and plural: `identities`, `Identity` and `identity` are equal."""
    name = name.replace("_", "").lower()
    return re.sub(r"s$", "", re.sub(r"ies$", "y", name))


def to_api(shape: Shape, value: Any) -> Any:
    """A Pulumi value in the form of an API shape. Properties without a member in it are omitted; unknowns stay."""
    if value == UNKNOWN:
        return value
    if isinstance(shape, StructureShape):
        return _to_structure(shape, value)
    if isinstance(shape, ListShape):
        return _to_list(shape, value)
    if isinstance(shape, MapShape):
        return {key: to_api(shape.value, item) for key, item in value.items()} if isinstance(value, Mapping) else value
    return _to_scalar(shape.type_name, value)


def _to_structure(shape: StructureShape, value: Any) -> Any:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        value = value[0]
    if not isinstance(value, Mapping):
        return _wrapped(shape, value)
    members = {normal(name): name for name in shape.members}
    converted = {}
    for key, item in value.items():
        name = members.get(normal(key))
        if name is not None and item is not None and not _is_left_out(shape.members[name], item):
            converted[name] = to_api(shape.members[name], item)
    return converted


def _is_left_out(shape: Shape, value: Any) -> bool:
    """Whether it is an empty object where AWS requires something inside: the AWS provider sends none."""
    return value == {} and isinstance(shape, StructureShape) and bool(shape.required_members)


def _wrapped(shape: StructureShape, value: Any) -> Any:
    """A value where AWS has a structure around it: an address where EC2 takes `{"PrivateIpAddress": ...}`."""
    wanted = ListShape if isinstance(value, list) else StringShape
    around = [name for name, member in shape.members.items() if isinstance(member, wanted)]
    return {around[0]: to_api(shape.members[around[0]], value)} if len(around) == 1 else value


def _to_list(shape: ListShape, value: Any) -> Any:
    if isinstance(value, Mapping) and isinstance(shape.member, StructureShape):
        pair = pair_names(shape.member.members)
        if pair:
            return [{pair[0]: key, pair[1]: str(item)} for key, item in value.items()]
    items = value if isinstance(value, list) else [value]
    return [to_api(shape.member, item) for item in items]


def pair_names(names: Any) -> tuple[str, str] | None:
    """The member names of a key-and-value structure, in the spelling of its API."""
    by_normal = {normal(name): name for name in names}
    key = by_normal.get("key") or by_normal.get("tagkey") or by_normal.get("name")
    value = by_normal.get("value") or by_normal.get("tagvalue")
    return (key, value) if key and value else None


def _to_scalar(type_name: str, value: Any) -> Any:
    """Strings that are numbers or booleans are converted; others are left for the validator to refuse."""
    if type_name == "string":
        return to_text(value)
    if type_name == "boolean" and isinstance(value, str):
        return {"true": True, "false": False}.get(value, value)
    if type_name in ("integer", "long") and _is_number(value) and float(value).is_integer():
        return int(float(value))
    if type_name in ("float", "double") and _is_number(value):
        return float(value)
    if type_name == "blob" and isinstance(value, str):
        return base64.b64decode(value)
    return value


def as_text(value: Any) -> str:
    """A value as filters and attributes have it: booleans in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def to_text(value: Any) -> str:
    """Objects and lists become JSON, booleans AWS's `true` and `false`."""
    return json.dumps(value) if isinstance(value, (Mapping, list)) else as_text(value)


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and re.fullmatch(r"-?\d+(\.\d+)?", str(value)) is not None


# Templates: texts with names in braces.


def fill(template: Any, names: Mapping[str, Any]) -> Any:
    """The template with its `{names}` filled in, at any depth."""
    if isinstance(template, str):
        return _Formatter().format(template, **names)
    if isinstance(template, Mapping):
        return {key: fill(value, names) for key, value in template.items()}
    if isinstance(template, (list, tuple)):
        return [fill(value, names) for value in template]
    return template


class _Formatter(string.Formatter):
    """Look names up without attribute access; an unknown name is an error of the mapping."""

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:  # noqa: ARG002
        if key not in kwargs:
            msg = f"the template uses {key!r}, which is neither an input nor an output; these are {sorted(kwargs)}"
            raise KeyError(msg)
        return kwargs[str(key)]

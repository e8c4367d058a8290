"""Values and names of AWS's API: converted by its own shapes, and equal regardless of case, underscores and plural."""

from __future__ import annotations

import base64
import json
import re
import string
from collections.abc import Mapping
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape


def normal(name: str) -> str:
    """The name without case, underscores and plural: `identities`, `Identity` and `identity` are equal."""
    name = name.replace("_", "").lower()
    return re.sub(r"s$", "", re.sub(r"ies$", "y", name))


def to_api(shape: Shape, value: Any) -> Any:
    """A Pulumi value in the form of an API shape, whose members have the same names. Others are omitted."""
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        given = {name: member for name, member in shape.members.items() if value.get(name) is not None}
        return {name: to_api(member, value[name]) for name, member in given.items()}
    if isinstance(shape, ListShape) and isinstance(value, list):
        return [to_api(shape.member, item) for item in value]
    if isinstance(shape, MapShape) and isinstance(value, Mapping):
        return {key: to_api(shape.value, item) for key, item in value.items()}
    return _to_scalar(shape.type_name, value)


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

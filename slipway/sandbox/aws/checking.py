"""Checking inputs against the schema of a type."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from slipway.sandbox.aws.kinds import AnyOf, Anything, Field, Kind, ListOf, MapOf, ObjectOf, Scalar
from slipway.sandbox.rpc import paths
from slipway.sandbox.rpc.hooks import Failure
from slipway.sandbox.rpc.paths import Path as PropertyPath
from slipway.sandbox.rpc.wire import UNKNOWN


def check_object(
    fields: Mapping[str, Field], value: Mapping[str, Any], at: PropertyPath, where: str
) -> Iterable[Failure]:
    """All problems with the properties of an object, each with its path; `where` names the object."""
    for name, field in fields.items():
        if field.required and value.get(name) is None:
            yield Failure(paths.write((*at, name)), f"missing: {where} requires {name!r}")
    for name, item in value.items():
        if name.startswith("__"):
            continue
        if name not in fields:
            yield Failure(paths.write((*at, name)), f"unknown: {where} has no property {name!r}{_hint(name, fields)}")
        else:
            yield from _check(fields[name].kind, item, (*at, name))


def _hint(name: str, fields: Mapping[str, Field]) -> str:
    by_lower = {known.lower(): known for known in fields}
    close = difflib.get_close_matches(name.replace("_", "").lower(), by_lower, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {by_lower[close[0]]!r}?"
    return f"; it has {', '.join(sorted(fields))}"


def _check(kind: Kind, value: Any, at: PropertyPath) -> Iterable[Failure]:
    if value is None or value == UNKNOWN or isinstance(kind, Anything):
        return
    if isinstance(kind, AnyOf):
        tried = [list(_check(option, value, at)) for option in kind.options]
        if all(tried):
            yield from tried[0]
    elif isinstance(kind, Scalar):
        if not _fits(kind, value):
            yield Failure(paths.write(at), f"must be {_WORDS[kind.name]}, got {value!r}")
    elif isinstance(kind, ListOf) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _check(kind.item, item, (*at, index))
    elif isinstance(kind, MapOf) and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _check(kind.item, item, (*at, key))
    elif isinstance(kind, ObjectOf) and isinstance(value, Mapping):
        yield from check_object(kind.fields, value, at, kind.name.rpartition(".")[2].removesuffix("Args"))
    else:
        yield Failure(paths.write(at), f"must be {_WORDS[type(kind).__name__]}, got {value!r}")


_WORDS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "ListOf": "a list",
    "MapOf": "a map",
    "ObjectOf": "an object",
}


def _fits(kind: Scalar, value: Any) -> bool:
    """Like the AWS provider, accept numbers and booleans as strings."""
    if isinstance(value, (list, Mapping)):
        return False
    if kind.name == "bool":
        return value in (True, False, "true", "false")
    if kind.name == "str":
        return True
    try:
        number = float(value)
    except ValueError:
        return False
    return not isinstance(value, bool) and (kind.name == "float" or number.is_integer())

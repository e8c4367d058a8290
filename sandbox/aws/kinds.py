"""The kinds of value that a property can have, and checking inputs against those of a type."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from sandbox.rpc import diff
from sandbox.rpc.diff import Path as PropertyPath
from sandbox.rpc.hooks import Failure
from sandbox.rpc.wire import UNKNOWN


@dataclass(frozen=True)
class Scalar:
    """A string, number or boolean; `name` is str, int, float or bool."""

    name: str


@dataclass(frozen=True)
class Anything:
    """A property whose kind the SDK does not declare."""


@dataclass(frozen=True)
class ListOf:
    """A list or a set; the SDK does not distinguish them."""

    item: Kind


@dataclass(frozen=True)
class MapOf:
    """A map whose keys the program chooses, such as tags."""

    item: Kind


@dataclass(frozen=True)
class ObjectOf:
    """A nested object. `name` is the SDK's class with its module; `objects` has all objects of the type it belongs to.

    It is looked up by name, because an object may contain objects of its own kind (the statements of a wafv2 rule).
    """

    name: str
    objects: Objects = field(repr=False, compare=False)

    @property
    def fields(self) -> Mapping[str, Field]:
        """The properties by wire name."""
        return self.objects[self.name]


@dataclass(frozen=True)
class AnyOf:
    """One of several kinds, the simplest first: a policy is a string or an object."""

    options: tuple[Kind, ...]


Kind: TypeAlias = Scalar | Anything | ListOf | MapOf | ObjectOf | AnyOf


@dataclass(frozen=True)
class Field:
    """One property: whether it is required, and its kind."""

    required: bool
    kind: Kind


Objects: TypeAlias = Mapping[str, Mapping[str, Field]]
"""Properties by wire name, by object: all nested objects of a type, and its own inputs and outputs."""

INPUTS: Final = "inputs"
OUTPUTS: Final = "outputs"


def snake(name: str) -> str:
    """Convert to snake case: `publicAccessCidrs` is `public_access_cidrs`."""
    words = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name)
    return re.sub(r"(?<=[A-Z])([A-Z][a-z])", r"_\1", words).lower()


# Checking inputs against the schema of a type.


def check_object(
    fields: Mapping[str, Field], value: Mapping[str, Any], at: PropertyPath, where: str
) -> Iterable[Failure]:
    """All problems with the properties of an object, each with its path; `where` names the object."""
    for name, known in fields.items():
        if known.required and value.get(name) is None:
            yield Failure(diff.write((*at, name)), f"missing: {where} requires {name!r}")
    for name, item in value.items():
        if name.startswith("__"):
            continue
        if name not in fields:
            yield Failure(diff.write((*at, name)), f"unknown: {where} has no property {name!r}{_hint(name, fields)}")
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
            yield Failure(diff.write(at), f"must be {_WORDS[kind.name]}, got {value!r}")
    elif isinstance(kind, ListOf) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _check(kind.item, item, (*at, index))
    elif isinstance(kind, MapOf) and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _check(kind.item, item, (*at, key))
    elif isinstance(kind, ObjectOf) and isinstance(value, Mapping):
        yield from check_object(kind.fields, value, at, kind.name.rpartition(".")[2].removesuffix("Args"))
    else:
        yield Failure(diff.write(at), f"must be {_WORDS[type(kind).__name__]}, got {value!r}")


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

"""Schemas of all types of pulumi_aws, from the installed package: no copy of AWS's provider schema is kept.

What the Python SDK does not say, and so is not known here: which change forces a new object, defaults, value ranges.
Importing a service package costs 0.05 to 1.7 s (ec2, measured 2026-11), so it happens once per process and type.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import json
import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipway.sandbox.aws.kinds import LOCK, AnyOf, Anything, Field, Kind, ListOf, MapOf, ObjectOf, Scalar, fields_of
from slipway.sandbox.rpc import paths
from slipway.sandbox.rpc.hooks import Failure
from slipway.sandbox.rpc.paths import Path as PropertyPath
from slipway.sandbox.rpc.wire import UNKNOWN

PACKAGE = "pulumi_aws"


@dataclass(frozen=True)
class Schema:
    """The inputs and outputs of a type."""

    type: str
    inputs: Mapping[str, Field]
    outputs: Mapping[str, Field]

    def check(self, inputs: Mapping[str, Any]) -> list[Failure]:
        """All that is wrong with the inputs, each with its path. Unknown values are skipped."""
        return list(_check_object(self.inputs, inputs, (), self.type))


@functools.cache
def tokens() -> Mapping[str, tuple[str, str]]:
    """Type token -> (module, class). Read from the package's source, which lists them without importing them."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        msg = f"{PACKAGE} is not installed in {sys.prefix}"
        raise ImportError(msg)
    listing = re.search(r'resource_modules="""\s*(\[.*?\])\s*"""', Path(spec.origin).read_text(), re.DOTALL)
    if listing is None:
        msg = f"{spec.origin} has no resource_modules: this version of {PACKAGE} is laid out otherwise than 7.51"
        raise ImportError(msg)
    modules = json.loads(listing.group(1))
    return {token: (module["fqn"], name) for module in modules for token, name in module["classes"].items()}


def schema(type_token: str) -> Schema | None:
    """The schema of a type, None if pulumi_aws has no such type. Safe to call from any thread."""
    with LOCK:
        return _schema(type_token)


@functools.cache
def _schema(type_token: str) -> Schema | None:
    if type_token not in tokens():
        return None
    module_name, class_name = tokens()[type_token]
    with warnings.catch_warnings():
        # A service package imports all its types, those that nobody asked for and that are deprecated too.
        warnings.simplefilter("ignore", DeprecationWarning)
        resource = getattr(importlib.import_module(module_name), class_name)
    names = vars(sys.modules[resource.__module__])
    # A nested type that took the name XArgs (s3.BucketVersioning) pushes the arguments to XInitArgs.
    arguments = names.get(f"{class_name}InitArgs") or names[f"{class_name}Args"]
    return Schema(type_token, fields_of(arguments), fields_of(resource))


def _check_object(
    fields: Mapping[str, Field], value: Mapping[str, Any], at: PropertyPath, where: str
) -> Iterable[Failure]:
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
        yield from _check_object(kind.fields, value, at, kind.cls.__name__.removesuffix("Args"))
    else:
        yield Failure(paths.write(at), f"must be {_WORDS[type(kind).__name__]}, got {value!r}")


_WORDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "ListOf": "a list",
    "MapOf": "a map",
    "ObjectOf": "an object",
}


def _fits(kind: Scalar, value: Any) -> bool:
    """As the AWS provider does, take numbers and truth values given as text."""
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

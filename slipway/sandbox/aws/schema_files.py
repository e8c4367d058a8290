"""Schemas cached on disk, so that only the first run on a machine imports the SDK to read them.

    <cache>/schemas/<version of pulumi_aws>-<digest of the code that reads it>/<service>.<module>.<class>.json

The digest covers this file, `sdk_annotations` and `kinds`, so no format version needs to be maintained. Files of other
versions stay until the user removes them; those of the types in moto take 0.3 MB (2026-11).
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from slipway.files import write_atomically
from slipway.sandbox.aws import kinds
from slipway.sandbox.aws.kinds import (
    INPUTS,
    OUTPUTS,
    AnyOf,
    Anything,
    Field,
    Kind,
    ListOf,
    MapOf,
    ObjectOf,
    Objects,
    Scalar,
)
from slipway.toolchain import cache

LOG = logging.getLogger(__name__)

SOURCES = (Path(__file__), Path(__file__).with_name("sdk_annotations.py"), Path(kinds.__file__))


def place(type_token: str) -> Path:
    """The path of a type's schema file, whether it exists or not."""
    name = type_token.removeprefix("aws:").replace("/", ".").replace(":", ".")
    return cache.root() / "schemas" / key() / f"{name}.json"


@functools.cache
def key() -> str:
    """The name of the directory."""
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in SOURCES)).hexdigest()
    return f"{version('pulumi_aws')}-{digest[:12]}"


def load(type_token: str) -> Objects | None:
    """The objects that `save` wrote; None if the file is missing or invalid."""
    try:
        document = json.loads(place(type_token).read_bytes())
        if document["type"] == type_token and {INPUTS, OUTPUTS} <= set(document["objects"]):
            return _decode(document["objects"])
    except FileNotFoundError:
        return None
    # The schema is read from the SDK instead, whatever is wrong with the file. RuntimeError: no home directory.
    except (OSError, RuntimeError, ValueError, LookupError, TypeError, AttributeError) as error:
        LOG.debug("schema of %s: %r", type_token, error)
    LOG.info("schema of %s: the cached file is invalid", type_token)
    return None


def save(type_token: str, objects: Objects) -> None:
    """Write the schema of a type. A failure is not an error: the schema is read from the SDK again next time."""
    document = {"type": type_token, "objects": encode(objects)}
    try:
        path = place(type_token)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(document, separators=(",", ":")))
    except (OSError, RuntimeError) as error:
        LOG.debug("schema of %s: not saved: %s", type_token, error)


def encode(objects: Objects) -> dict[str, Any]:
    """The objects as JSON values: for each property, whether it is required, and its kind."""
    return {
        name: {key: [field.required, _encoded(field.kind)] for key, field in fields.items()}
        for name, fields in objects.items()
    }


def _encoded(kind: Kind) -> Any:
    match kind:
        case Scalar(name):
            return name
        case ListOf(item):
            return {"list": _encoded(item)}
        case MapOf(item):
            return {"map": _encoded(item)}
        case ObjectOf(name):
            return {"object": name}
        case AnyOf(options):
            return {"any": [_encoded(option) for option in options]}
    return None


def _decode(document: Mapping[str, Any]) -> Objects:
    objects: dict[str, Mapping[str, Field]] = {name: {} for name in document}
    for name, fields in document.items():
        decoded = {key: Field(bool(required), _decoded(kind, objects)) for key, (required, kind) in fields.items()}
        objects[name] = MappingProxyType(decoded)
    return objects


def _decoded(kind: Any, objects: Objects) -> Kind:
    if kind is None:
        return Anything()
    if isinstance(kind, str):
        return _SCALARS[kind]
    ((form, value),) = kind.items()
    if form == "object":
        # Look it up now: a KeyError makes `load` return None, and the schema is read from the SDK.
        objects[value]
        return ObjectOf(value, objects)
    if form == "any":
        return AnyOf(tuple(_decoded(option, objects) for option in value))
    below = _decoded(value, objects)
    containers: dict[str, Kind] = {"list": ListOf(below), "map": MapOf(below)}
    return containers[form]


_SCALARS = MappingProxyType({name: Scalar(name) for name in ("str", "int", "float", "bool")})

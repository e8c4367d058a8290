"""Schemas of all types of pulumi_aws, read from the installed package once per machine."""

from __future__ import annotations

import enum
import functools
import hashlib
import importlib
import importlib.util
import inspect
import json
import logging
import re
import sys
import threading
import types
import typing
import warnings
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pulumi

from sandbox.aws.kinds import (
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
    check_object,
    snake,
)
from sandbox.files import write_atomically
from sandbox.rpc.hooks import Failure
from sandbox.toolchain import cache

# Schemas read from the annotations of the installed Pulumi SDK.
#
# An annotation such as `pulumi.Input[Optional[Mapping[str, pulumi.Input[str]]]]` becomes `MapOf(Scalar("str"))`.
# Importing a service package takes 0.05 to 1.7 s (ec2, measured 2026-11), so files cache the result. A change
# of this file invalidates that cache, because the cache's path depends on this source.


def read(module_name: str, class_name: str) -> Objects:
    """The inputs and outputs of a resource class, and all nested objects.

    Not thread-safe: the SDK loads its modules lazily, and concurrent imports may see incomplete ones.
    """
    with warnings.catch_warnings():
        # A service package imports all its types, including deprecated ones.
        warnings.simplefilter("ignore", DeprecationWarning)
        resource = getattr(importlib.import_module(module_name), class_name)
        names = vars(sys.modules[resource.__module__])
        # If a nested type has the name XArgs (s3.BucketVersioning), the arguments are named XInitArgs.
        arguments = names.get(f"{class_name}InitArgs") or names[f"{class_name}Args"]
        return _Reader().read({INPUTS: arguments, OUTPUTS: resource})


def read_result(token: str) -> Objects:
    """The same of a function's answer, which repeats its arguments."""
    _, module, name = token.split(":")
    group = module.partition("/")[0]
    where = PACKAGE if group == "index" else f"{PACKAGE}.{group}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        importlib.import_module(where)
        file = importlib.import_module(f"{where}.{snake(name)}")
    answer = getattr(file, f"{name[:1].upper()}{name[1:]}Result")
    return _Reader().read({INPUTS: answer, OUTPUTS: answer})


class _Reader:
    """Reads classes and the nested classes that they refer to."""

    def __init__(self) -> None:
        self._objects: dict[str, Mapping[str, Field]] = {}
        self._seen: dict[str, type] = {}

    def read(self, classes: Mapping[str, type]) -> Objects:
        """The properties of the classes and of all classes that they refer to."""
        self._seen.update(classes)
        while left := [name for name in self._seen if name not in self._objects]:
            for name in left:
                self._objects[name] = self._fields(self._seen[name])
        return self._objects

    def _fields(self, cls: type) -> Mapping[str, Field]:
        parameters = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
        required = {p.name for p in parameters if p.default is inspect.Parameter.empty}
        names = vars(sys.modules[cls.__module__])
        fields = {}
        for name, wire_name in _wire_names(cls).items():
            annotation = vars(cls)[name].fget.__annotations__.get("return")
            fields[wire_name] = Field(name in required, self._parse(annotation, names))
        return types.MappingProxyType(fields)

    def _parse(self, annotation: Any, names: Mapping[str, Any]) -> Kind:
        kinds = tuple(dict.fromkeys(self._single(option, names) for option in _options(annotation)))
        return kinds[0] if len(kinds) == 1 else AnyOf(kinds) if kinds else Anything()

    def _single(self, option: Any, names: Mapping[str, Any]) -> Kind:
        origin = typing.get_origin(option)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return MapOf(self._parse(typing.get_args(option)[1], names))
        if isinstance(origin, type) and issubclass(origin, Sequence):
            return ListOf(self._parse(typing.get_args(option)[0], names))
        if option in (str, int, float, bool):
            return Scalar(option.__name__)
        if isinstance(option, str):
            # An output that is always there has no `Optional` around its class.
            option = typing.ForwardRef(option)
        cls = _resolve(option.__forward_arg__, names) if isinstance(option, typing.ForwardRef) else option
        if isinstance(cls, type) and issubclass(cls, enum.Enum):
            return Scalar("str")
        return self._nested(cls) if _is_nested(cls) else Anything()

    def _nested(self, cls: type) -> ObjectOf:
        name = f"{cls.__module__}.{cls.__qualname__}"
        self._seen[name] = cls
        return ObjectOf(name, self._objects)


def _wire_names(cls: type) -> dict[str, str]:
    """The properties of a class: names in Python, and as providers get them."""
    return {
        name: getattr(member.fget, "_pulumi_name", name)
        for name, member in vars(cls).items()
        if isinstance(member, property) and member.fget is not None
    }


def _options(annotation: Any) -> list[Any]:
    """The members of nested unions. Of `Input[T]`, which is `T | Awaitable[T] | Output[T]`, only T counts."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        members = [m for m in typing.get_args(annotation) if not _wraps_another(m)]
        return [option for member in members for option in _options(member)]
    if origin is pulumi.Output:
        return _options(typing.get_args(annotation)[0])
    if isinstance(annotation, typing.ForwardRef) and annotation.__forward_arg__.endswith("ArgsDict"):
        return []
    return [annotation]


def _wraps_another(member: Any) -> bool:
    """Whether it is None or a wrapper of T; the SDK writes `Output[T]` as a string."""
    if isinstance(member, typing.ForwardRef):
        return member.__forward_arg__.startswith("Output[")
    return member is type(None) or typing.get_origin(member) in (Awaitable, pulumi.Output)


def _is_nested(cls: Any) -> bool:
    """Whether it is a class with properties, as `pulumi.input_type` and `pulumi.output_type` create them."""
    return isinstance(cls, type) and any(isinstance(member, property) for member in vars(cls).values())


def _resolve(reference: str, names: Mapping[str, Any]) -> Any:
    head, *rest = reference.split(".")
    return functools.reduce(lambda value, name: getattr(value, name, None), rest, names.get(head))


# Schemas cached on disk, so that only the first run on a machine imports the SDK to read them.
#
#     <cache>/schemas/<version of pulumi_aws>-<digest of the code that reads it>/<service>.<module>.<class>.json
#
# The digest covers this file and `kinds`, so no format version needs to be maintained.
# Files of other versions stay until the user removes them; those of the types in moto take 0.3 MB (2026-11).

LOG = logging.getLogger(__name__)

SOURCES = tuple(Path(__file__).with_name(name) for name in ("schema.py", "kinds.py"))


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
        objects[name] = MappingProxyType(
            {key: Field(bool(required), _decoded(kind, objects)) for key, (required, kind) in fields.items()}
        )
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


LOCK = threading.RLock()
"""Held while a schema is read: SDK modules load lazily, and concurrent imports may see incomplete modules."""

PACKAGE = "pulumi_aws"


@dataclass(frozen=True)
class Schema:
    """The inputs and outputs of a type."""

    type: str
    inputs: Mapping[str, Field]
    outputs: Mapping[str, Field]

    def check(self, inputs: Mapping[str, Any]) -> list[Failure]:
        """All problems with the inputs, each with its path. Unknown values are skipped."""
        return list(check_object(self.inputs, inputs, (), self.type))


@functools.cache
def tokens() -> Mapping[str, tuple[str, str]]:
    """Type token -> (module, class). Read from the package's source, which lists all without importing them."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        msg = f"{PACKAGE} is not installed in {sys.prefix}"
        raise ImportError(msg)
    listing = re.search(r'resource_modules="""\s*(\[.*?\])\s*"""', Path(spec.origin).read_text(), re.DOTALL)
    if listing is None:
        msg = f"{spec.origin} has no resource_modules: this version of {PACKAGE} has another layout than 7.51"
        raise ImportError(msg)
    modules = json.loads(listing.group(1))
    return {token: (module["fqn"], name) for module in modules for token, name in module["classes"].items()}


def schema(type_token: str) -> Schema | None:
    """The schema of a type; None if pulumi_aws has no such type. Thread-safe."""
    with LOCK:
        return _schema(type_token)


def of_function(token: str) -> Mapping[str, Field] | None:
    """The properties of a function's arguments and answer; None if pulumi_aws has no such function. Thread-safe."""
    with LOCK:
        return _of_function(token)


@functools.cache
def _of_function(token: str) -> Mapping[str, Field] | None:
    objects = load(token)
    if objects is None:
        try:
            objects = read_result(token)
        except (ImportError, AttributeError):
            return None
        save(token, objects)
    return objects[OUTPUTS]


@functools.cache
def _schema(type_token: str) -> Schema | None:
    if type_token not in tokens():
        return None
    objects = load(type_token)
    if objects is None:
        objects = read(*tokens()[type_token])
        save(type_token, objects)
    return Schema(type_token, objects[INPUTS], objects[OUTPUTS])

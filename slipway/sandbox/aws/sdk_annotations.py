"""Schemas read from the annotations of the installed Pulumi SDK.

An annotation such as `pulumi.Input[Optional[Mapping[str, pulumi.Input[str]]]]` becomes `MapOf(Scalar("str"))`.
Importing a service package takes 0.05 to 1.7 s (ec2, measured 2026-11), so `schema_files` caches the result. A change
of this file invalidates that cache, because the cache's path depends on this source.
"""

from __future__ import annotations

import enum
import functools
import importlib
import inspect
import sys
import types
import typing
import warnings
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import pulumi

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
        for name, member in vars(cls).items():
            if isinstance(member, property) and member.fget is not None:
                wire_name = getattr(member.fget, "_pulumi_name", name)
                annotation = member.fget.__annotations__.get("return")
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
        cls = _resolve(option.__forward_arg__, names) if isinstance(option, typing.ForwardRef) else option
        if isinstance(cls, type) and issubclass(cls, enum.Enum):
            return Scalar("str")
        return self._nested(cls) if _is_nested(cls) else Anything()

    def _nested(self, cls: type) -> ObjectOf:
        name = f"{cls.__module__}.{cls.__qualname__}"
        self._seen[name] = cls
        return ObjectOf(name, self._objects)


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

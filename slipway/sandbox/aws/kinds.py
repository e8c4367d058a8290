"""The kinds of value a property can hold, read from the annotations of the installed Pulumi SDK.

An annotation such as `pulumi.Input[Optional[Mapping[str, pulumi.Input[str]]]]` becomes `MapOf(Scalar("str"))`. Objects
are resolved when first looked at: the SDK has thousands of them.
"""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import threading
import types
import typing
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pulumi

LOCK = threading.RLock()
"""Held while SDK modules are imported: they load lazily, and imports that race hand out half-made modules."""


@dataclass(frozen=True)
class Scalar:
    """A text, number or truth value; `name` is str, int, float or bool."""

    name: str


@dataclass(frozen=True)
class Anything:
    """A property the SDK says nothing about."""


@dataclass(frozen=True)
class ListOf:
    """A list or a set; the SDK does not tell them apart."""

    item: Kind


@dataclass(frozen=True)
class MapOf:
    """A map whose keys the program chooses, such as tags."""

    item: Kind


@dataclass(frozen=True)
class ObjectOf:
    """A nested object; its properties are those of an SDK class."""

    cls: type

    @property
    def fields(self) -> Mapping[str, Field]:
        """The properties by wire name."""
        return fields_of(self.cls)


@dataclass(frozen=True)
class AnyOf:
    """One of several kinds, the plainest first: a policy is a text or an object."""

    options: tuple[Kind, ...]


Kind: TypeAlias = Scalar | Anything | ListOf | MapOf | ObjectOf | AnyOf


@dataclass(frozen=True)
class Field:
    """One property: whether it must be given, and its kind."""

    required: bool
    kind: Kind


def fields_of(cls: type) -> Mapping[str, Field]:
    """The properties of an SDK class (arguments, nested object, outputs or resource) by wire name."""
    with LOCK:
        return _fields_of(cls)


@functools.cache
def _fields_of(cls: type) -> Mapping[str, Field]:
    parameters = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
    required = {p.name for p in parameters if p.default is inspect.Parameter.empty}
    names = vars(sys.modules[cls.__module__])
    fields = {}
    for name, member in vars(cls).items():
        if isinstance(member, property) and member.fget is not None:
            wire_name = getattr(member.fget, "_pulumi_name", name)
            annotation = member.fget.__annotations__.get("return")
            fields[wire_name] = Field(name in required, _parse(annotation, names))
    return types.MappingProxyType(fields)


def _parse(annotation: Any, names: Mapping[str, Any]) -> Kind:
    found = dict.fromkeys(_single(option, names) for option in _options(annotation))
    kinds = tuple(found)
    return kinds[0] if len(kinds) == 1 else AnyOf(kinds) if kinds else Anything()


def _options(annotation: Any) -> list[Any]:
    """The members of nested unions. `Input[T]` is `T | Awaitable[T] | Output[T]`: only T says something."""
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
    """None and the ways to wrap T; `Output[T]` stands in the SDK as a text."""
    if isinstance(member, typing.ForwardRef):
        return member.__forward_arg__.startswith("Output[")
    return member is type(None) or typing.get_origin(member) in (Awaitable, pulumi.Output)


def _single(option: Any, names: Mapping[str, Any]) -> Kind:
    origin = typing.get_origin(option)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return MapOf(_parse(typing.get_args(option)[1], names))
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return ListOf(_parse(typing.get_args(option)[0], names))
    if option in (str, int, float, bool):
        return Scalar(option.__name__)
    cls = _resolve(option.__forward_arg__, names) if isinstance(option, typing.ForwardRef) else option
    if isinstance(cls, type) and issubclass(cls, enum.Enum):
        return Scalar("str")
    return ObjectOf(cls) if _is_nested(cls) else Anything()


def _is_nested(cls: Any) -> bool:
    """Whether it is a class with properties, as `pulumi.input_type` and `pulumi.output_type` make them."""
    return isinstance(cls, type) and any(isinstance(member, property) for member in vars(cls).values())


def _resolve(reference: str, names: Mapping[str, Any]) -> Any:
    head, *rest = reference.split(".")
    return functools.reduce(lambda found, name: getattr(found, name, None), rest, names.get(head))

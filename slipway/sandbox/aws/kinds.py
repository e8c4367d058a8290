"""The kinds of value a property can hold. What they are for a type is told by `schema`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias


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
    """A nested object. `name` is the SDK's class, with its module; `objects` are all objects of the type it is part of.

    It is found there by name, for an object may hold objects of its own kind (the statements of a rule of wafv2).
    """

    name: str
    objects: Objects = field(repr=False, compare=False)

    @property
    def fields(self) -> Mapping[str, Field]:
        """The properties by wire name."""
        return self.objects[self.name]


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


Objects: TypeAlias = Mapping[str, Mapping[str, Field]]
"""Properties by wire name, by the name of the object that has them: all objects of a type, and the type's own two."""

INPUTS: Final = "inputs"
OUTPUTS: Final = "outputs"

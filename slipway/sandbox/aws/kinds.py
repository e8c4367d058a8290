"""The kinds of value that a property can have; `schema` gives those of a type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias


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

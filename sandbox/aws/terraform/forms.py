"""The properties of a type as pulumi-aws names and shapes them, and as the Terraform provider does.

pulumi-aws derives both from the provider's schema: names in camel case, lists in the plural, and a list of at most one
block as an object. So a property is found by its name, and by its form in the installed SDK.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.aws.kinds import AnyOf, Anything, Field, Kind, ListOf, MapOf, ObjectOf, Scalar, snake
from sandbox.aws.shapes import as_text, to_text
from sandbox.aws.terraform.messages import UNKNOWN, Unknown
from sandbox.aws.terraform.plugin import MANY
from sandbox.rpc import wire

_LISTS: Final = ("list", "set")


@dataclass(frozen=True)
class Plain:
    """A text, number or truth value; `name` is Terraform's, `wanted` the SDK's kind."""

    name: str
    wanted: str = ""

    def to(self, value: Any) -> Any:
        """A property's value as an attribute's: a document may be given as an object, a number as a text."""
        if self.name == "string":
            return to_text(value)
        if isinstance(value, str):
            return {"true": True, "false": False}.get(value, value) if self.name == "bool" else _number(value)
        return value

    def of(self, value: Any) -> Any:
        """An attribute's value as a property's. The SDK may have another kind: a text for what may be unset."""
        if isinstance(value, str) and self.wanted in ("int", "float", "bool"):
            return {"true": True, "false": False}.get(value) if self.wanted == "bool" else _number(value or None)
        return as_text(value) if self.wanted == "str" and not isinstance(value, str) else value


@dataclass(frozen=True)
class Many:
    """A list or set; in the SDK it may be its only item."""

    item: Form
    single: bool = False

    def to(self, value: Any) -> Any:
        """Its items."""
        return [convert(self.item, one) for one in (value if isinstance(value, list) else [value])]

    def of(self, value: Any) -> Any:
        """The items, or the only one."""
        found = [reverse(self.item, one) for one in value]
        return (found[0] if found else None) if self.single else found


@dataclass(frozen=True)
class Keyed:
    """A map whose keys the program chooses."""

    item: Form

    def to(self, value: Any) -> Any:
        """Each value."""
        return {key: convert(self.item, one) for key, one in value.items()}

    def of(self, value: Any) -> Any:
        """Each value."""
        return {key: reverse(self.item, one) for key, one in value.items()}


@dataclass
class Block:
    """A block, or an object: its members by Terraform's name, and the properties that are known of it."""

    forms: dict[str, Form]
    properties: dict[str, str] = field(default_factory=dict)
    """Terraform's name of each property."""
    empty: Mapping[str, Any] = field(default_factory=dict)
    """What members are that nothing is said of."""

    def to(self, value: Any) -> Any:
        """All members."""
        known = {self.properties[key]: item for key, item in value.items() if key in self.properties}
        return {**self.empty, **{name: convert(self.forms[name], item) for name, item in known.items()}}

    def of(self, value: Any) -> Any:
        """The properties that have a value."""
        found = {key: reverse(self.forms[name], value.get(name)) for key, name in self.properties.items()}
        return {key: item for key, item in found.items() if item is not None}

    def name(self, attribute: str) -> str:
        """The property of an attribute."""
        return next((key for key, name in self.properties.items() if name == attribute), camel(attribute))

    def lacks(self, values: Iterable[str]) -> list[str]:
        """Properties that the provider doesn't have."""
        return sorted(key for key in values if not key.startswith("__") and key not in self.properties)


Form = Plain | Many | Keyed | Block


def convert(form: Form, value: Any) -> Any:
    """A property's value as Terraform's."""
    if value is None:
        return None
    if value == wire.UNKNOWN:
        return UNKNOWN
    if isinstance(form, (Keyed, Block)) and not isinstance(value, Mapping):
        return value
    return form.to(value)


def reverse(form: Form, value: Any) -> Any:
    """Terraform's value as a property's."""
    if value is None:
        return None
    if isinstance(value, Unknown):
        return wire.UNKNOWN
    return form.of(value)


def path(form: Form, steps: Iterable[Any]) -> tuple[str | int, ...]:
    """The property that a path of attributes names."""
    found: list[str | int] = []
    for step in steps:
        if isinstance(form, Block):
            found.append(form.name(str(step)))
            form = form.forms.get(str(step), Plain("string"))
        elif isinstance(form, Many):
            if isinstance(step, int) and not form.single:
                found.append(step)
            form = form.item
        elif isinstance(form, Keyed):
            found.append(str(step))
            form = form.item
    return tuple(found)


def of_block(block: Any, fields: Mapping[str, Field], renamed: Mapping[str, str]) -> Block:
    """The forms of a block of the provider's schema, with the SDK's properties."""
    types = {each.name: json.loads(each.type) for each in block.attributes}
    nested = {each.type_name: each for each in block.block_types}
    properties = dict(_matched(fields, (*types, *nested), renamed))
    kinds = {name: fields[key].kind for key, name in properties.items()}
    forms = {name: _of_type(type, kinds.get(name), renamed) for name, type in types.items()}
    for name, each in nested.items():
        below = of_block(each.block, _fields(kinds.get(name)), renamed)
        forms[name] = (
            Many(below, isinstance(_first(kinds.get(name)), (ObjectOf, Anything))) if each.nesting in MANY else below
        )
    empty: dict[str, Any] = {
        **dict.fromkeys(types),
        **{name: [] if one.nesting in MANY else None for name, one in nested.items()},
    }
    return Block(forms, properties, empty)


def _of_type(type: Any, kind: Kind | None, renamed: Mapping[str, str]) -> Form:
    kind = _first(kind)
    if isinstance(type, str):
        return Plain(type, kind.name if isinstance(kind, Scalar) else "")
    word, below = type[0], type[1]
    if word in _LISTS:
        single = kind is not None and not isinstance(kind, ListOf)
        return Many(_of_type(below, kind.item if isinstance(kind, ListOf) else kind, renamed), single)
    if word == "map":
        return Keyed(_of_type(below, kind.item if isinstance(kind, MapOf) else None, renamed))
    fields = _fields(kind)
    properties = dict(_matched(fields, tuple(below), renamed))
    kinds = {name: fields[key].kind for key, name in properties.items()}
    forms = {name: _of_type(one, kinds.get(name), renamed) for name, one in below.items()}
    return Block(forms, properties, dict.fromkeys(below))


def _first(kind: Kind | None) -> Kind | None:
    """Of several kinds, one that isn't a scalar: that an attribute is a text, Terraform says."""
    if not isinstance(kind, AnyOf):
        return kind
    return next((one for one in kind.options if not isinstance(one, Scalar)), kind.options[0])


def _fields(kind: Kind | None) -> Mapping[str, Field]:
    kind = _first(kind)
    inner = _first(kind.item) if isinstance(kind, ListOf) else kind
    return inner.fields if isinstance(inner, ObjectOf) else {}


def _matched(
    fields: Mapping[str, Field], names: tuple[str, ...], renamed: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Each property with Terraform's name of it: the same words, maybe in the singular."""
    left = dict.fromkeys(names)
    later = []
    for key in fields:
        name = renamed[key] if renamed.get(key) in left else snake(key)
        if name in left:
            del left[name]
            yield key, name
        else:
            later.append(key)
    for key in later:
        found = next((one for one in left if _words(one) == _words(key)), None)
        if found is not None:
            del left[found]
            yield key, found


def _words(name: str) -> str:
    """A name without case and plural."""
    plain = re.sub(r"[_-]", "", name).lower()
    return re.sub(r"ies$", "y", plain).rstrip("es")


def camel(name: str) -> str:
    """Convert from snake case."""
    first, *others = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else number

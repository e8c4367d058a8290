"""A platform with other settings of its add-ons, so that values are seen that no stack file asks for.

For every field all that it may be is listed as far as it is finite: both of a switch, each of a choice, the least and
the most of a number, none and some. The first variant takes the first of every field, the second the second, and so on,
until each was taken once. Add-ons that exclude one another come in different variants.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from spec.settings import Platform
from spec.settings.addons import Addons, AddonSettings


def variants(platform: Platform) -> Iterator[Platform]:
    """Platforms with every add-on there is, in as many variants as the field with the most choices has."""
    for crew in crews(kinds()):
        models = {name: _choices_of(kind) for name, kind in crew.items()}
        for turn in range(max(map(len, models.values()), default=0)):
            chosen = {name: choices[turn % len(choices)] for name, choices in models.items()}
            # What the stack file names is kept: it may need settings that have no default.
            given = {name: getattr(platform.addons, name) or chosen[name] for name in crew} if turn == 0 else chosen
            yield platform.model_copy(update={"addons": Addons.model_construct(**given)})


def kinds() -> dict[str, type[AddonSettings]]:
    """Settings classes by their field."""
    found: dict[str, type[AddonSettings]] = {}
    for name, field in Addons.model_fields.items():
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, AddonSettings):
                found[name] = kind
    return found


def crews(all_kinds: dict[str, type[AddonSettings]]) -> list[dict[str, type[AddonSettings]]]:
    """Add-ons that can stand together, every add-on in at least one crew, each with what it requires."""
    found: list[dict[str, type[AddonSettings]]] = []
    for name, kind in all_kinds.items():
        wanted = _with_required(name, kind, all_kinds)
        for crew in found:
            if not _conflict({**crew, **wanted}):
                crew.update(wanted)
                break
        else:
            found.append(wanted)
    return found


def _with_required(
    name: str, kind: type[AddonSettings], all_kinds: dict[str, type[AddonSettings]]
) -> dict[str, type[AddonSettings]]:
    names = {each: key for key, each in all_kinds.items()}
    found = {name: kind}
    for other in kind.requires:
        found |= _with_required(names[other], other, all_kinds)
    return found


def _conflict(crew: dict[str, type[AddonSettings]]) -> bool:
    present = set(crew.values())
    return any(other in present for kind in present for other in kind.excludes)


def _choices_of(model: type[BaseModel]) -> list[Any]:
    """Instances of a model, the first with its defaults."""
    fields = {name: _choices(field) for name, field in model.model_fields.items()}
    turns = max(map(len, fields.values()), default=1)
    made = [model.model_construct(**_defaults(model))]
    for turn in range(turns):
        made.append(
            model.model_construct(**{name: choices[turn % len(choices)] for name, choices in fields.items() if choices})
        )
    return made


def _defaults(model: type[BaseModel]) -> dict[str, Any]:
    fields = {name: _choices(field) for name, field in model.model_fields.items()}
    return {name: choices[0] for name, choices in fields.items() if choices}


def _choices(field: FieldInfo) -> list[Any]:
    """What a field may be, its default first."""
    found = [] if field.is_required() else [field.get_default(call_default_factory=True)]
    found += [each for each in _of_type(field.annotation, field.metadata) if each not in found]
    return found


def _of_type(kind: Any, metadata: Sequence[Any]) -> list[Any]:
    origin = get_origin(kind)
    if origin is Annotated:
        base, *more = get_args(kind)
        return _of_type(base, [*metadata, *itertools.chain.from_iterable(map(_flat, more))])
    if origin in (Union, types.UnionType):
        return [each for part in get_args(kind) for each in _of_type(part, metadata)]
    return list(get_args(kind)) if origin is Literal else _of_class(kind, metadata)


def _of_class(kind: Any, metadata: Sequence[Any]) -> list[Any]:
    if kind is int:
        return _bounds(metadata)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _choices_of(kind)
    if kind is bool:
        return [False, True]
    return [None] if kind is type(None) else []


def _flat(item: Any) -> list[Any]:
    return list(item.metadata) if isinstance(item, FieldInfo) else [item]


def _bounds(metadata: Sequence[Any]) -> list[int]:
    found = []
    for item in metadata:
        for kind, attribute, shift in ((Ge, "ge", 0), (Gt, "gt", 1), (Le, "le", 0), (Lt, "lt", -1)):
            if isinstance(item, kind):
                found.append(int(getattr(item, attribute)) + shift)
    return sorted(found)

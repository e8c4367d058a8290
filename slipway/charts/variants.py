"""Variants of a platform with other add-on settings, to cover values that no stack file produces.

For every field, the possible values are listed as far as they are finite: both values of a switch, each of a choice,
the minimum and maximum of a number, none and some. The first variant takes the first value of every field, the second
variant the second, and so on, until each was used once. Add-ons that exclude one another are in different variants.
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
    """Platforms that together enable every add-on, in as many variants as the field with the most values needs."""
    for group in groups(kinds()):
        models = {name: _choices_of(kind) for name, kind in group.items()}
        for turn in range(max(map(len, models.values()), default=0)):
            chosen = {name: choices[turn % len(choices)] for name, choices in models.items()}
            # The first variant keeps the stack file's settings: some have no default.
            addons = {name: getattr(platform.addons, name) or chosen[name] for name in group} if turn == 0 else chosen
            yield platform.model_copy(update={"addons": Addons.model_construct(**addons)})


def kinds() -> dict[str, type[AddonSettings]]:
    """Settings classes of the add-ons, by field."""
    classes: dict[str, type[AddonSettings]] = {}
    for name, field in Addons.model_fields.items():
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, AddonSettings):
                classes[name] = kind
    return classes


def groups(all_kinds: dict[str, type[AddonSettings]]) -> list[dict[str, type[AddonSettings]]]:
    """Groups of compatible add-ons, each with its requirements; every add-on is in at least one group."""
    result: list[dict[str, type[AddonSettings]]] = []
    for name, kind in all_kinds.items():
        required = _with_required(name, kind, all_kinds)
        for group in result:
            if not _conflict({**group, **required}):
                group.update(required)
                break
        else:
            result.append(required)
    return result


def _with_required(
    name: str, kind: type[AddonSettings], all_kinds: dict[str, type[AddonSettings]]
) -> dict[str, type[AddonSettings]]:
    names = {each: key for key, each in all_kinds.items()}
    required = {name: kind}
    for other in kind.requires:
        required |= _with_required(names[other], other, all_kinds)
    return required


def _conflict(group: dict[str, type[AddonSettings]]) -> bool:
    present = set(group.values())
    return any(other in present for kind in present for other in kind.excludes)


def _choices_of(model: type[BaseModel]) -> list[Any]:
    """Instances of a model, the first one with its defaults."""
    fields = {name: _choices(field) for name, field in model.model_fields.items()}
    turns = max(map(len, fields.values()), default=1)
    instances = [model.model_construct(**_defaults(model))]
    for turn in range(turns):
        instances.append(
            model.model_construct(**{name: choices[turn % len(choices)] for name, choices in fields.items() if choices})
        )
    return instances


def _defaults(model: type[BaseModel]) -> dict[str, Any]:
    fields = {name: _choices(field) for name, field in model.model_fields.items()}
    return {name: choices[0] for name, choices in fields.items() if choices}


def _choices(field: FieldInfo) -> list[Any]:
    """Possible values of a field, its default first."""
    values = [] if field.is_required() else [field.get_default(call_default_factory=True)]
    values += [each for each in _of_type(field.annotation, field.metadata) if each not in values]
    return values


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
    bounds = []
    for item in metadata:
        for kind, attribute, shift in ((Ge, "ge", 0), (Gt, "gt", 1), (Le, "le", 0), (Lt, "lt", -1)):
            if isinstance(item, kind):
                bounds.append(int(getattr(item, attribute)) + shift)
    return sorted(bounds)

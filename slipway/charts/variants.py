"""Variants of a platform with other add-on settings, to cover values that no stack file produces.

For every field, the possible values are listed as far as they are finite: both values of a switch, each of a choice,
the minimum and maximum of a number, none and some. The first variant takes the first value of every field, the second
variant the second, and so on, until each was used once. What has no default has the value of its class's `example`.
Add-ons that exclude one another are in different variants.
"""

import itertools
import json
import types
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from spec.settings import Platform
from spec.settings.addons import Addons, AddonSettings


def variants(platform: Platform) -> Iterator[Platform]:
    """Platforms that together enable every add-on, in as many variants as the field with the most values needs."""
    for group in groups(kinds()):
        models = {name: _choices_of(kind, example(kind)) for name, kind in group.items()}
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


def example(kind: type[AddonSettings]) -> AddonSettings:
    """Settings of an add-on: its example, and defaults.

    Raises:
        ValueError: The example is missing or wrong.
    """
    try:
        return kind.model_validate_json(json.dumps(dict(kind.example)))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        msg = (
            f"{kind.__name__}: {wrong}. Write an example of what has no default into the class, as in a stack file: "
            '`example: ClassVar[Mapping[str, Any]] = {"KEY": VALUE}`'
        )
        raise ValueError(msg) from None


def groups(all_kinds: dict[str, type[AddonSettings]]) -> list[dict[str, type[AddonSettings]]]:
    """Groups of compatible add-ons, each with its requirements. Every add-on is in at least one group, and in one with
    each that it follows: values may depend on it."""
    names = {kind: name for name, kind in all_kinds.items()}
    alone = [_with_required(name, kind, all_kinds) for name, kind in all_kinds.items()]
    followed = [
        _with_required(name, kind, all_kinds) | _with_required(names[other], other, all_kinds)
        for name, kind in all_kinds.items()
        for other in kind.follows
        if other in names
    ]
    result: list[dict[str, type[AddonSettings]]] = []
    for together in (*alone, *followed):
        for group in result:
            if not _conflict({**group, **together}):
                group.update(together)
                break
        else:
            result.append(together)
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


def _choices_of(model: type[BaseModel], first: BaseModel) -> list[Any]:
    """Instances of a model, the first one as given. The others aren't validated: rules between two fields don't matter
    to the keys of a chart's values."""
    fields = {name: _choices(field, getattr(first, name)) for name, field in model.model_fields.items()}
    return [first] + [
        first.model_copy(update={name: choices[turn % len(choices)] for name, choices in fields.items()})
        for turn in range(max(map(len, fields.values()), default=1))
    ]


def _choices(field: FieldInfo, first: Any) -> list[Any]:
    """Possible values of a field, that of the first instance first."""
    if isinstance(first, BaseModel):
        return _choices_of(type(first), first)
    return [first] + [each for each in _of_type(field.annotation, field.metadata) if each != first]


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
        return _choices_of(kind, kind())
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

"""One part of the settings: each is validated on its own, and so is an entry of a collection.

So a program of one's own has a pool or a team by itself, with the checks that need nothing else of a stack.
"""

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from spec import clock
from spec.settings.addons import Addons
from spec.settings.base import Name
from spec.settings.capacity import InstanceRequirements
from spec.settings.checks import CHECKS, Context, run
from spec.settings.cluster import AddonName
from spec.settings.pools import Pool
from spec.settings.presets import PRESETS
from spec.settings.problems import ConfigurationError, Problem, without_secrets
from spec.settings.teams import Team
from spec.settings.translate import translate

Parts = dict[str, Any]
_M = TypeVar("_M", Pool, Team)
_P = TypeVar("_P", bound=BaseModel)
_COLLECTIONS: Final[Mapping[type, str]] = {Pool: "pools", Team: "teams"}


def alone(kind: type[_M], name: str, data: Mapping[str, Any], beside: Parts | None = None) -> _M:
    """A pool or a team by itself, in the form that it has in a stack file.

    Args:
        kind: Which of the two.
        name: Its name.
        data: Its settings.
        beside: Other parts of a stack that it is held against, by their field name: `{"pools": {...}}`.

    Raises:
        ConfigurationError: With every problem.
    """
    key, plain = _COLLECTIONS[kind], plain_map(data)
    entries, problems = collection(with_types({key: {name: plain}})[key], key, kind, may_be_empty=False)
    entry: _M = _held(entries, {key: {name: plain}}, problems, beside, f"{key}.{name}")[name]
    return entry


def part(kind: type[_P], key: str, data: Mapping[str, Any], beside: Parts | None = None) -> _P:
    """A part of a stack by itself, in the form that it has in a stack file, with the checks of `alone`.

    Args:
        kind: Its class.
        key: Its key.
        data: Its settings.
        beside: Other parts of a stack that it is held against, by their field name.

    Raises:
        ConfigurationError: With every problem.
    """
    plain = plain_map(data)
    made, problems = model(plain, (key,), kind)
    settings: _P = _held(made, {key: plain}, problems, beside, key)
    return settings


def _held(made: Any, raw: Parts, problems: list[Problem], beside: Parts | None, source: str) -> Any:
    """What was made of the settings, if nothing is wrong with it."""
    (key,), parts = raw, beside or {}
    if made:
        context = Context(stack="", today=clock.today(), raw={**raw, **parts}, parts={**parts, key: made})
        # What a stack needs beside it is a problem of no entry: `pools`, that none is of the system.
        problems += [one for one in run(CHECKS, context)[0] if "." in one.path]
    if problems or not made:
        raise ConfigurationError(map(without_secrets, problems), source)
    return made


def plain_map(data: Mapping[Any, Any]) -> dict[str, Any]:
    """The settings as JSON would carry them, which is how the engine does: text as keys, dates and the like as text."""
    return {str(key): _plain(value) for key, value in data.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain_map(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def collection(
    value: Any, path: str, entry_type: Any, *, may_be_empty: bool
) -> tuple[dict[str, Any] | None, list[Problem]]:
    """Validate each entry on its own, merged with its preset; leave out invalid entries."""
    if not isinstance(value, dict) or not (value or may_be_empty):
        minimum = "" if may_be_empty else " with at least one entry"
        return None, [Problem(path, f"this must be a map{minimum}", value, "Give each entry a name.")]
    entries: dict[str, Any] = {}
    problems: list[Problem] = []
    for key, raw in value.items():
        name, bad_name = model(key, (path, str(key)), Name)
        expanded, bad_preset = _expand(raw, f"{path}.{key}")
        entry, bad_entry = model(expanded, (path, str(key)), entry_type) if not bad_preset else (None, [])
        problems += [*bad_name, *bad_preset, *bad_entry]
        if name is not None and entry is not None:
            entries[name] = entry
    return entries, problems


def _expand(raw: Any, path: str) -> tuple[Any, list[Problem]]:
    """Merge an entry's own keys over its preset's: maps by key, everything else as a whole."""
    if not isinstance(raw, dict) or "preset" not in raw:
        return raw, []
    own = dict(raw)
    preset = own.pop("preset")
    if not isinstance(preset, str) or preset not in PRESETS:
        close = get_close_matches(str(preset), PRESETS, n=1)
        fix = f"Did you mean {close[0]}?" if close else f"Use one of {', '.join(sorted(PRESETS))}."
        return raw, [Problem(f"{path}.preset", "the preset must exist", preset, fix)]
    return overlay(PRESETS[preset], own), []


def overlay(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`under` with the keys of `over` replacing its own; maps are merged, lists and values replaced as a whole."""
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        both_maps = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = overlay(below, value) if both_maps else value  # type: ignore[arg-type]
    return merged


def beside_existing(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings with what they leave out on a cluster that exists: nothing is made there that they don't name."""
    cluster = _map(data, "cluster")
    if not (existing := _map(cluster, "existing")):
        return data
    named, installed = _map(cluster, "addons"), existing.get("installed")
    there = [one for one in installed if isinstance(one, str)] if isinstance(installed, list) else []
    under = {
        "network": {"existing": {}, "flowLogs": {"enabled": False}},
        "cluster": {"addons": {str(name): {"enabled": False} for name in AddonName if name not in named}},
        "addons": {one: {} for one in there if one in {field.alias for field in Addons.model_fields.values()}},
        **({} if "storage" in data else {"storage": {"enabled": False}}),
    }
    return overlay(under, data)


def with_types(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings with the types that meet a pool's `instanceRequirements`, where it names none itself."""
    found: dict[str, Any] = {}
    for name, pool in _map(data, "pools").items():
        given = pool.get("instanceRequirements") if isinstance(pool, Mapping) else None
        wanted = model(given, (), InstanceRequirements)[0] if given and "instanceTypes" not in pool else None
        region = _map(data, "account").get("region")
        if wanted is not None and (types := wanted.types(region)):
            found[name] = {"instanceTypes": list(types)}
    return overlay(data, {"pools": found}) if found else data


def _map(data: Any, key: str) -> Mapping[str, Any]:
    found = data.get(key)
    return found if isinstance(found, Mapping) else {}


def model(value: Any, path: tuple[str, ...], expected: Any) -> tuple[Any, list[Problem]]:
    """A value as this type, or the problems that it has; where it is, in the file's spelling."""
    try:
        # JSON mode of strict validation: a list may become a tuple and a string a network, "3" never becomes 3.
        return TypeAdapter(expected).validate_json(json.dumps(value)), []
    except ValidationError as error:
        errors = error.errors(include_url=False)
        return None, translate(errors, path, value, lambda place: _fields_at(expected, place[:-1]))


def _fields_at(expected: Any, loc: tuple[int | str, ...]) -> dict[str, Any]:
    """Keys that the models at `loc` below `expected` know."""
    current = [expected]
    for part in loc:
        current = [below for annotation in current for below in _below(annotation, part)]
    models = [one for annotation in current for one in _alternatives(annotation) if _is_model(one)]
    return {str(field.alias): name for model in models for name, field in model.model_fields.items()}


def _below(annotation: Any, part: int | str) -> Iterator[Any]:
    """Types of what is at a key, or at a position, of a value of this type."""
    for one in _alternatives(annotation):
        if _is_model(one):
            yield from (field.annotation for field in one.model_fields.values() if field.alias == str(part))
        elif get_origin(one) is dict:
            yield get_args(one)[1]
        elif get_origin(one) is tuple:
            yield get_args(one)[0]


def _alternatives(annotation: Any) -> Iterator[Any]:
    """The types of a union, without what `Annotated` adds to them."""
    if get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for one in get_args(annotation):
            yield from _alternatives(one)
    else:
        yield annotation


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)

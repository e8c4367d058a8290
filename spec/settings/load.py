"""Loading: validation of each part on its own, then checks across parts, and one report of all problems.

Parts, and the entries of a collection, are validated one by one, so that a mistake in one of them hides neither
mistakes in the others nor those that the checks across parts find.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from spec import clock
from spec.settings.base import Name
from spec.settings.checks import CHECKS, Context, run
from spec.settings.platform import Platform
from spec.settings.presets import PRESETS
from spec.settings.problems import ConfigurationError, Problem, without_secrets
from spec.settings.translate import translate, unknown

KEY = "platform"
"""The one key of the project's configuration: `slipway:platform`."""


@dataclass(frozen=True)
class Loaded:
    """Valid settings, and warnings about them."""

    platform: Platform
    warnings: tuple[Problem, ...]


def load(data: object, *, stack: str, today: date | None = None) -> Loaded:
    """Make settings of a stack file's `slipway:platform`.

    Args:
        data: Value of the key in the file or from the engine: nested maps, lists and scalars.
        stack: Name of the stack that the settings are for.
        today: Day that support dates are held against; that of `spec.clock` where not given.

    Raises:
        ConfigurationError: With every problem of every part.
        SlipwayError: No day was given, and `SLIPWAY_TODAY` is not a date.
    """
    source = f"stack {stack}"
    if not isinstance(data, Mapping):
        problem = Problem(f"slipway:{KEY}", "the settings must be a map", data, "See stacks/README.md for a short one.")
        raise ConfigurationError([problem], source)
    try:
        plain = plain_map(data)
    except RecursionError:
        problem = Problem(f"slipway:{KEY}", "settings nest only a few levels deep", "too many levels", "Fix the file.")
        raise ConfigurationError([problem], source) from None
    parts, problems = validate_parts(plain)
    context = Context(stack=stack, today=today or clock.today(), raw=plain, parts=parts)
    errors, warnings = run(CHECKS, context)
    problems += errors
    if problems:
        raise ConfigurationError(map(without_secrets, problems), source)
    return Loaded(Platform.model_construct(**parts), tuple(warnings))


Parts = dict[str, Any]


def plain_map(data: Mapping[Any, Any]) -> dict[str, Any]:
    """The settings as JSON would carry them, which is how the engine does: text as keys, dates and the like as text."""
    return {str(key): _plain(value) for key, value in data.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain_map(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def validate_parts(data: Mapping[str, Any]) -> tuple[Parts, list[Problem]]:
    """Validate every top-level part on its own; return the valid ones and the problems of the others."""
    parts: Parts = {}
    problems: list[Problem] = []
    known = {str(field.alias): name for name, field in Platform.model_fields.items()}
    problems += [unknown(str(key), data[key], known) for key in data if key not in known]
    for alias, name in known.items():
        field = Platform.model_fields[name]
        if alias not in data:
            if field.is_required():
                problems.append(Problem(alias, "this key is required", None, f"Add `{alias}:` with its settings."))
            else:
                parts[name] = field.get_default(call_default_factory=True)
            continue
        if get_origin(field.annotation) is dict:
            entry_type = get_args(field.annotation)[1]
            parts[name], of_part = _collection(data[alias], alias, entry_type, may_be_empty=not field.is_required())
        else:
            parts[name], of_part = _model(data[alias], (alias,), field.annotation)
        problems += of_part
    return {name: part for name, part in parts.items() if part is not None}, problems


def _collection(
    value: Any, path: str, entry_type: Any, *, may_be_empty: bool
) -> tuple[dict[str, Any] | None, list[Problem]]:
    """Validate each entry on its own, merged with its preset; leave out invalid entries."""
    if not isinstance(value, dict) or not (value or may_be_empty):
        minimum = "" if may_be_empty else " with at least one entry"
        return None, [Problem(path, f"this must be a map{minimum}", value, "Give each entry a name.")]
    entries: dict[str, Any] = {}
    problems: list[Problem] = []
    for key, raw in value.items():
        name, bad_name = _model(key, (path, str(key)), Name)
        expanded, bad_preset = _expand(raw, f"{path}.{key}")
        entry, bad_entry = _model(expanded, (path, str(key)), entry_type) if not bad_preset else (None, [])
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
        fix = f"Use one of {', '.join(sorted(PRESETS))}."
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


Edits = Mapping[tuple[str, ...], Any]
"""Values by their path below `slipway:platform`; None removes a key."""


def edited(settings: Mapping[str, Any], edits: Edits) -> dict[str, Any]:
    """A copy of a stack file's settings with other values."""
    found = dict(settings)
    for (first, *rest), value in edits.items():
        if rest:
            below = found.get(first)
            found[first] = edited(below if isinstance(below, Mapping) else {}, {tuple(rest): value})
        elif value is None:
            found.pop(first, None)
        else:
            found[first] = value
    return found


def _model(value: Any, path: tuple[str, ...], expected: Any) -> tuple[Any, list[Problem]]:
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

"""Loading: validation of each part on its own, then checks across parts, and one report of all problems.

Parts, and the entries of a collection, are validated one by one, so that a mistake in one of them hides neither
mistakes in the others nor those that the checks across parts find.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, get_args, get_origin

from spec import clock
from spec.settings.checks import CHECKS, Context, run
from spec.settings.parts import Parts, beside_existing, collection, model, plain_map, with_types
from spec.settings.platform import Platform
from spec.settings.problems import ConfigurationError, Problem, without_secrets
from spec.settings.translate import unknown

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
    parts, problems = validate_parts(with_types(beside_existing(plain)))
    context = Context(stack=stack, today=today or clock.today(), raw=plain, parts=parts)
    errors, warnings = run(CHECKS, context)
    problems += errors
    if problems:
        raise ConfigurationError(map(without_secrets, problems), source)
    return Loaded(Platform.model_construct(**parts), tuple(warnings))


def validate_parts(data: Mapping[str, Any]) -> tuple[Parts, list[Problem]]:
    """Validate every top-level part on its own; return the valid ones and the problems of the others."""
    parts: Parts = {}
    problems: list[Problem] = []
    known = {str(field.alias): name for name, field in Platform.model_fields.items()}
    problems += [unknown(str(key), data[key], known) for key in data if key not in known]
    # What is there under another name is neither missing nor empty.
    meant = {alias for alias in known if any(f"`{alias}`" in one.fix for one in problems)}
    for alias, name in known.items():
        field = Platform.model_fields[name]
        if alias in meant - data.keys():
            continue
        if alias not in data:
            if field.is_required():
                problems.append(Problem(alias, "this key is required", None, f"Add `{alias}:` with its settings."))
            else:
                parts[name] = field.get_default(call_default_factory=True)
            continue
        if get_origin(field.annotation) is dict:
            entry_type = get_args(field.annotation)[1]
            parts[name], of_part = collection(data[alias], alias, entry_type, may_be_empty=not field.is_required())
        else:
            parts[name], of_part = model(data[alias], (alias,), field.annotation)
        problems += of_part
    return {name: part for name, part in parts.items() if part is not None}, problems


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

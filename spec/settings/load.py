"""Second half of loading: checks across parts, and one report of all problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from spec import clock
from spec.settings.checks import CHECKS, Context, run
from spec.settings.platform import Platform
from spec.settings.problems import ConfigurationError, Problem
from spec.settings.secrets import without_secrets
from spec.settings.shape import plain_map, validate_parts

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

"""Reads and checks a stack's settings; every command does this first."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from slipway.engine.project import Project
from spec.errors import EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from spec.settings import Loaded


def checked(project: Project, stack: str, *, strict: bool = False) -> Loaded:
    """The settings of a stack; warnings are printed to stderr.

    Raises:
        ConfigurationError: The file is refused; the error lists every problem.
        SlipwayError: There are warnings, and `strict` makes them errors.
    """
    # Not at the top: pydantic takes 0.2 s, and `slipway --help` or `sandbox status` need none of it.
    from spec.settings import load, read_stack  # noqa: PLC0415

    loaded = load(read_stack(stack, project.stacks), stack=stack)
    for warning in loaded.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if strict and loaded.warnings:
        count = len(loaded.warnings)
        msg = f"stack {stack}: {count} warning{'s' if count != 1 else ''}, refused because of --strict"
        raise SlipwayError(msg, EXIT_REFUSED)
    return loaded

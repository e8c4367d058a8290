"""The settings that a bill is compared with: those of a commit, or those that a stack was last brought up with.

Both are priced by today's program at today's prices, so that a difference is one of settings alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from slipway.engine.commits import take_out
from slipway.engine.project import Project
from spec.errors import EXIT_REFUSED, SlipwayError
from spec.settings import ConfigurationError, Platform, load, read_stack


def at_commit(project: Project, stack: str, ref: str) -> Platform | None:
    """The settings of a stack at a commit, branch or tag; None where the commit has no such stack.

    Raises:
        SlipwayError: git knows no such commit, or its settings are none for today's program.
    """
    with tempfile.TemporaryDirectory(prefix="slipway-cost-") as folder:
        there = Project(Path(folder))
        take_out(project, ref, there.root, under=there.stacks.name)
        if not there.has(stack):
            return None
        try:
            return load(read_stack(stack, there.stacks), stack=stack).platform
        except ConfigurationError as error:
            what = f"the settings of {stack} at {ref}"
            raise _refused(what, error) from error


def as_deployed(settings: object, stack: str) -> Platform:
    """The settings of an update (`slipway.engine.history`).

    Raises:
        SlipwayError: They are none for today's program.
    """
    try:
        return load(settings, stack=stack).platform
    except ConfigurationError as error:
        what = f"the settings that {stack} was last brought up with"
        raise _refused(what, error) from error


def _refused(what: str, error: ConfigurationError) -> SlipwayError:
    msg = f"{what} are none for this version of the program, so they can't be priced by it:\n{error}"
    return SlipwayError(msg, EXIT_REFUSED)

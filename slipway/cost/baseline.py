"""The settings that a cost estimate is compared with: those of a commit, or those of the last update of a stack.

Both sides are priced with today's program and prices, so that the difference comes from the settings only.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from slipway.engine.commits import take_out
from slipway.engine.project import Project
from spec.errors import EXIT_REFUSED, SlipwayError
from spec.settings import ConfigurationError, Platform, load, read_stack


def at_commit(project: Project, stack: str, ref: str) -> Platform | None:
    """The settings of a stack at a commit, branch or tag; None if the commit has no such stack.

    Raises:
        SlipwayError: git has no such commit, or today's program does not accept its settings.
    """
    with tempfile.TemporaryDirectory(prefix="slipway-cost-") as folder:
        past = Project(Path(folder))
        take_out(project, ref, past.root, under=past.stacks.name)
        if not past.has(stack):
            return None
        try:
            return load(read_stack(stack, past.stacks), stack=stack).platform
        except ConfigurationError as error:
            what = f"the settings of {stack} at {ref}"
            raise _refused(what, error) from error


def as_deployed(settings: object, stack: str) -> Platform:
    """The settings of an update (`slipway.engine.history`).

    Raises:
        SlipwayError: Today's program does not accept them.
    """
    try:
        return load(settings, stack=stack).platform
    except ConfigurationError as error:
        what = f"the settings of the last update of {stack}"
        raise _refused(what, error) from error


def _refused(what: str, error: ConfigurationError) -> SlipwayError:
    msg = f"{what} are not valid for this version of the program, so it can't price them:\n{error}"
    return SlipwayError(msg, EXIT_REFUSED)

"""The settings that a bill is compared with: those of a commit, or those that a stack was last brought up with.

Both are priced by today's program at today's prices, so that a difference is one of settings alone.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from infra.config import ConfigurationError, Platform, load, read_stack
from slipway.engine.errors import EXIT_REFUSED, SlipwayError
from slipway.engine.project import Project
from slipway.engine.stackfiles import stack_file


def at_commit(project: Project, stack: str, ref: str) -> Platform | None:
    """The settings of a stack at a commit, branch or tag; None where the commit has no such stack.

    Raises:
        SlipwayError: git knows no such commit, or its settings are none for today's program.
    """
    if _git(project, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}") is None:
        msg = f"git knows no commit {ref!r} here: fetch it (a shallow clone has one commit only)"
        raise SlipwayError(msg, EXIT_REFUSED)
    path = stack_file(Path(project.stacks.name), stack)
    text = _git(project, "show", "--end-of-options", f"{ref}:./{path.as_posix()}")
    if text is None:
        return None
    with tempfile.TemporaryDirectory(prefix="slipway-cost-") as folder:
        stack_file(Path(folder), stack).write_bytes(text)
        try:
            return load(read_stack(stack, Path(folder)), stack=stack).platform
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


def _git(project: Project, *arguments: str) -> bytes | None:
    """What git prints; None where it ends with an error."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=project.root, env=environment, capture_output=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        msg = f"git can't be run: {error}"
        raise SlipwayError(msg) from error
    return None if done.returncode else done.stdout

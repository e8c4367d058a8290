"""The tree of another commit, taken out of git.

By `git archive`, which writes nothing into the repository, so nothing has to be tidied up after a run that was killed.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Final

from slipway.engine.project import Project
from spec.errors import EXIT_REFUSED, SlipwayError

_SECONDS: Final = 60
"""A tree of 6 MB takes 0.1 s; what takes longer than this hangs."""


def take_out(project: Project, ref: str, into: Path, *, under: str = "") -> str:
    """Write the project as it is at a commit, branch or tag into a folder, and say the commit: `1a2b3c4d5e`.

    Args:
        project: The checkout whose repository is asked.
        ref: Commit, branch or tag.
        into: The folder; it has nothing in it.
        under: Only what is below this folder of the project; all of it where empty.

    Raises:
        SlipwayError: git knows no such commit here, or can't be run.
    """
    commit = _git(project, "rev-parse", "--verify", "--quiet", "--short=10", "--end-of-options", f"{ref}^{{commit}}")
    if commit.returncode:
        # Quiet about a commit that it does not know, not about a folder that is no repository.
        missing = f"git knows no commit {ref!r} here; fetch it (a shallow clone has one commit only)"
        raise SlipwayError(_said(commit) or missing, EXIT_REFUSED)
    known = commit.stdout.decode().strip()
    tree = _git(project, "archive", "--format=tar", known)
    if tree.returncode:
        raise SlipwayError(_said(tree), EXIT_REFUSED)
    with tarfile.open(fileobj=io.BytesIO(tree.stdout)) as archive:
        wanted = [member for member in archive if Path(member.name).is_relative_to(under)]
        archive.extractall(into, wanted, filter="data")
    return known


def _git(project: Project, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        return subprocess.run(
            ["git", *arguments], cwd=project.root, env=environment, capture_output=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        msg = f"git can't be run: {error}"
        raise SlipwayError(msg) from error


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last line of what git said; empty where it said nothing."""
    lines = done.stderr.decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")

"""The checkout that a command works on, and the project at another commit.

Uses `git archive`, which writes nothing into the repository, so a killed run leaves nothing to clean up.
"""

import io
import os
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slipway.engine.stacks import STACKS, stack_file
from spec.errors import EXIT_REFUSED, SlipwayError, fail
from spec.naming import PROJECT

# The checkout that a command works on: the nearest directory upward that holds our Pulumi.yaml.


_NAME_LINE: Final = f"name: {PROJECT}"


class NoProjectError(SlipwayError):
    """There is no checkout."""


@dataclass(frozen=True)
class Project:
    """A checkout: `root` holds Pulumi.yaml."""

    root: Path

    @property
    def stacks(self) -> Path:
        """The folder of the stack files."""
        return self.root / STACKS

    @property
    def stack_names(self) -> list[str]:
        """Stacks that have a file."""
        return sorted(
            path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in self.stacks.glob("Pulumi.*.yaml")
        )

    def has(self, stack: str) -> bool:
        """Whether the stack has a file."""
        return Path(stack).name == stack and stack_file(self.stacks, stack).is_file()


def find(start: Path) -> Project:
    """The checkout that contains a directory, else the checkout that this package is installed from.

    Raises:
        NoProjectError: Neither exists.
    """
    for directory in _candidates(start):
        if is_ours(directory / "Pulumi.yaml"):
            return Project(directory)
    msg = f"no Pulumi.yaml of project {PROJECT} in {start} or above it: run this inside a checkout"
    raise NoProjectError(msg, EXIT_REFUSED)


def is_ours(path: Path) -> bool:
    """Whether a file is the Pulumi.yaml of this project."""
    try:
        return any(line.rstrip() == _NAME_LINE for line in path.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return False


def _candidates(start: Path) -> Iterator[Path]:
    resolved = start.resolve()
    yield from (resolved, *resolved.parents)
    yield Path(__file__).resolve().parents[2]


# Checking out the project at another commit, into a folder of its own.


_SECONDS: Final = 60  # Time-out of one git command. A tree of 6 MB takes 0.1 s.


def take_out(project: Project, ref: str, into: Path, *, under: str = "") -> str:
    """Write the project's files at a commit, branch or tag into a folder; returns the short commit: `1a2b3c4d5e`.

    Args:
        under: Only the files below this folder of the project; empty for all files.
    """
    commit = git(project, "rev-parse", "--verify", "--quiet", "--short=10", "--end-of-options", f"{ref}^{{commit}}")
    if commit.returncode:
        # With --quiet, git prints nothing for an unknown commit, but does print an error outside a repository.
        missing = f"git knows no commit {ref!r} here; fetch it (a shallow clone has one commit only)"
        raise SlipwayError(_last_line(commit) or missing, EXIT_REFUSED)
    known = commit.stdout.decode().strip()
    tree = git(project, "archive", "--format=tar", known)
    if tree.returncode:
        raise SlipwayError(_last_line(tree), EXIT_REFUSED)
    with tarfile.open(fileobj=io.BytesIO(tree.stdout)) as archive:
        wanted = [member for member in archive if Path(member.name).is_relative_to(under)]
        archive.extractall(into, wanted, filter="data")
    return known


def git(project: Project, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A git command in the project's folder, to its end."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        return subprocess.run(
            ["git", *arguments], cwd=project.root, env=environment, capture_output=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        fail(f"git can't be run: {error}", error)


def _last_line(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last line that git wrote to stderr; empty if it wrote nothing."""
    lines = done.stderr.decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")

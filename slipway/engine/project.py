"""The checkout that a command works on: the nearest directory upward that holds our Pulumi.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slipway.engine.stackfiles import PROJECT, STACKS, stack_file
from spec.errors import EXIT_REFUSED, SlipwayError

_NAME_LINE: Final = f"name: {PROJECT}"


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
        SlipwayError: Neither exists.
    """
    for directory in _candidates(start):
        if is_ours(directory / "Pulumi.yaml"):
            return Project(directory)
    msg = f"no Pulumi.yaml of project {PROJECT} in {start} or above it: run this inside a checkout"
    raise SlipwayError(msg, EXIT_REFUSED)


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

"""The commands of commands.yaml."""

import argparse
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from spec import strict_yaml

_ROWS: Final[Mapping[str, Mapping[str, Any]]] = strict_yaml.beside(__file__)
SHARED: Final = _ROWS["shared"]  # rows of arguments that several commands have
RENAMED: Final = _ROWS["renamed"]  # what lines began with in the release before


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command."""

    name: str
    summary: str  # what it does, for the list of commands
    title: str = ""  # the heading above it and those that follow, in the list of commands
    run: str = ""  # `module:function` of what it does; empty for a command that only has commands below it
    instead: Mapping[str, str] = field(default_factory=dict)
    """`module:function` of what it does with an option, by the option."""
    arguments: Mapping[str, Any] = field(default_factory=dict)  # the rows of its arguments
    commands: tuple["Command", ...] = ()  # the commands below it
    epilog: str | None = None  # examples, below the arguments
    usage: str | None = None  # the first line of its help; by default argparse's
    defaults: Mapping[str, Any] = field(default_factory=dict)  # values of the options that only its siblings have
    elsewhere: str = ""  # what does the same for a program or a cluster without a stack file, from the command on

    def start(self, options: argparse.Namespace) -> int:
        """Do the work; the exit code."""
        return function(next((run for name, run in self.instead.items() if getattr(options, name)), self.run))(options)


def function(run: str) -> Callable[[argparse.Namespace], int]:
    """What does the work, from its module, which is imported."""
    module, _, name = run.partition(":")
    found: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(module), name)
    return found


def _made(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[Command]:
    for name, row in rows.items():
        yield Command(**{**row, "name": name, "commands": tuple(_made(row.get("commands", {})))})


COMMANDS: Final = tuple(_made(_ROWS["commands"]))  # in the order of `slipway --help`

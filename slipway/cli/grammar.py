"""What commands and their arguments are made of; `slipway.cli.commands` is the table of them."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from spec.quantities import seconds as seconds_of

KEEP: Final = "keep"
MOST_SECONDS: Final = 3600.0
MOST_LOAD: Final = 10.0


@dataclass(frozen=True)
class Argument:
    """An argument or option: its names, and what else argparse is given."""

    names: tuple[str, ...]
    more: Mapping[str, Any]


@dataclass(frozen=True)
class Group:
    """Arguments with a heading, or those that exclude each other if there is none; of those, one may be required."""

    arguments: tuple[Argument, ...]
    title: str | None = None
    description: str | None = None
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command.

    Attributes:
        name: Its name.
        summary: What it does, for the list of commands.
        run: `module:function` of what it does; the module is imported when the command runs. Empty for a command that
            only has commands below it.
        arguments: Its arguments.
        commands: The commands below it.
        epilog: Examples, below the arguments.
        usage: The first line of its help; by default argparse's.
        defaults: Values of the options that only its siblings have.
        elsewhere: What does the same for a program or a cluster without a stack file, from the command on.
    """

    name: str
    summary: str
    run: str = ""
    arguments: tuple[Argument | Group, ...] = ()
    commands: tuple[Command, ...] = ()
    epilog: str | None = None
    usage: str | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    elsewhere: str = ""

    def function(self) -> Callable[[argparse.Namespace], int]:
        """What does the work, from its module, which is imported."""
        module, _, name = self.run.partition(":")
        found: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(module), name)
        return found

    def start(self, options: argparse.Namespace) -> int:
        """Do the work; the exit code."""
        return self.function()(options)


def positional(name: str, metavar: str, text: str | None = None, **more: Any) -> Argument:
    """An argument without dashes."""
    return Argument((name,), {"metavar": metavar, "help": text, **more})


def option(names: str, metavar: str, text: str, **more: Any) -> Argument:
    """An option with a value; further names after a blank."""
    return Argument(tuple(names.split()), {"metavar": metavar, "help": text, **more})


def choice(name: str, choices: tuple[str, ...], text: str, **more: Any) -> Argument:
    """An option with one of some values."""
    return Argument((name,), {"choices": choices, "help": text, **more})


def switch(names: str, text: str) -> Argument:
    """An option without a value; further names after a blank."""
    return Argument(tuple(names.split()), {"action": "store_true", "help": text})


def folder(name: str, text: str, metavar: str = "DIR", **more: Any) -> Argument:
    """An option whose value is a path."""
    return option(name, metavar, text, type=Path, **more)


def number(name: str, metavar: str, text: str, **more: Any) -> Argument:
    """An option whose value is an integer."""
    return option(name, metavar, text, type=int, **more)


def repeated(name: str, metavar: str, text: str, **more: Any) -> Argument:
    """An option that may be given several times."""
    return option(name, metavar, text, action="append", **more)


STACK: Final = positional("stack", "STACK", "name of a stack: stacks/Pulumi.STACK.yaml")
JSON: Final = switch("--json", "print JSON")


def seconds(text: str) -> float:
    """A number of seconds up to an hour."""
    try:
        given = float(text)
    except ValueError:
        given = -1.0
    if not 0 <= given <= MOST_SECONDS:
        msg = f"a number of seconds from 0 to {MOST_SECONDS:g} (given: {text!r})"
        raise argparse.ArgumentTypeError(msg)
    return given


def time_to_live(text: str) -> int | None:
    """Seconds of a time such as 90m; None for `keep`."""
    if text == KEEP:
        return None
    if not re.fullmatch("([0-9]+[hms])+", text) or not seconds_of(text):
        msg = f"a time such as 4h or 90m, or `{KEEP}` (given: {text!r})"
        raise argparse.ArgumentTypeError(msg)
    return seconds_of(text)


def account(text: str) -> str:
    """The ID of an AWS account."""
    if not re.fullmatch(r"[0-9]{12}", text):
        msg = f"an AWS account ID has 12 digits (given: {text!r})"
        raise argparse.ArgumentTypeError(msg)
    return text


def share(text: str) -> float:
    """A share of something, above 0 and at most 10: 0.7, 1.3."""
    try:
        given = float(text)
    except ValueError:
        given = -1.0
    if not 0 < given <= MOST_LOAD:
        msg = f"a share such as 0.7 or 1.3, at most {MOST_LOAD:g} (given: {text!r})"
        raise argparse.ArgumentTypeError(msg)
    return given


def dollars(text: str) -> Decimal:
    """An amount in USD: `1234.56`."""
    if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,2})?", text):
        msg = f"an amount in USD such as 1234.56 (given: {text!r})"
        raise argparse.ArgumentTypeError(msg)
    return Decimal(text)


def between(least: int, most: int) -> Callable[[str], int]:
    """Reads a whole number within bounds."""

    def number_of(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and least <= int(text) <= most):
            msg = f"a whole number from {least:,} to {most:,} (given: {text!r})"
            raise argparse.ArgumentTypeError(msg)
        return int(text)

    return number_of


def pair(text: str) -> tuple[str, str]:
    """Two names: `V100=A100`."""
    name, equals, value = text.partition("=")
    if not (equals and name and value):
        msg = f"two names such as V100=A100 (given: {text!r})"
        raise argparse.ArgumentTypeError(msg)
    return name, value


def port(text: str) -> int:
    """A TCP port."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        msg = f"a port is a number from 1 to 65535 (given: {text!r})"
        raise argparse.ArgumentTypeError(msg)
    return int(text)

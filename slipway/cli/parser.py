"""The parser of the command line, made from the table of commands."""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from slipway import __version__
from slipway.cli import grammar
from slipway.cli.commands import COMMANDS, RENAMED, SHARED, Command

if TYPE_CHECKING:  # generic in the type checker's stubs only
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

PROGRAM: Final = "slipway"
_USAGE: Final = "slipway COMMAND ...      `slipway COMMAND --help` has its arguments"
_ABOUT: Final = "Provision an ML platform on Amazon EKS, or rehearse it in a sandbox without AWS."


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command line, with `run`, the function that does the work.

    Arguments after `--` are not parsed; they become `extra`, which some commands pass to the engine. `parser` is the
    parser itself.

    Raises:
        SystemExit: The line is invalid (code 2), or it asks for help or the version (code 0).
    """
    ours, extra = _split(list(arguments))
    debug = ["--debug"] * ("--debug" in ours)  # of no command, and at any place
    ours = debug + _renamed([word for word in ours if word != "--debug"])
    parser = make()
    if not arguments:
        parser.print_help()
        raise SystemExit(0)
    options = parser.parse_args(ours)
    if extra and not getattr(options, "takes_extra", False):
        parser.error(f"{options.command} passes no arguments to the engine: remove `-- {' '.join(extra)}`")
    options.extra = tuple(extra)
    options.parser = parser
    return options


def _renamed(words: list[str]) -> list[str]:
    """The words of today for a line that was right in the release before; the new line is said."""
    for old, row in RENAMED.items():
        count = len(old.split())
        if words[:count] == old.split():
            parts = (word.partition("=") for word in words[count:])
            renamed = ((row.get("options", {}).get(name, name), equals, value) for name, equals, value in parts)
            rest = (f"{name}{equals}{value}" if name else value for name, equals, value in renamed)
            now = [*row["now"].split(), *filter(None, rest)]
            print(f"warning: `slipway {old}` is now `slipway {shlex.join(now)}`", file=sys.stderr)
            return now
    return words


class _Completion(argparse.Action):
    """Prints a script for a shell, which shtab derives from the parser."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> NoReturn:
        import shtab  # noqa: PLC0415 - 40 ms

        print(shtab.complete(parser, shell=given[1]))
        parser.exit()


class Parser(argparse.ArgumentParser):
    """A parser that takes options anywhere, whose refusal of a word that is nearly right names the right one, and that
    of a missing stack what works without."""

    def format_help(self) -> str:
        """As argparse; that of all commands in groups."""
        if self.prog != PROGRAM:
            return super().format_help()
        lines = [f"usage: {_USAGE}", "", _ABOUT]
        for command in COMMANDS:
            lines += ["", f"{command.title}:"] * bool(command.title) + [f"  {command.name:<10}  {command.summary}"]
        options = (
            (", ".join(one.option_strings) + f" {one.metavar or ''}", one.help)
            for one in self._actions
            if one.option_strings
        )
        lines += ["", "Options:", *(f"  {names:<18}  {text}" for names, text in options)]
        return "\n".join(lines) + "\n"

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse, which takes the arguments of a command in one place only, and refuses others a level above."""
        if self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        options, extra = super().parse_known_args(self._options_last(args), namespace)
        if extra:
            self.error(f"unrecognized arguments: {' '.join(extra)}")
        return options, extra

    def _options_last(self, arguments: Sequence[str]) -> list[str]:
        """The same arguments, options with their values behind the others."""
        words, options, value, known = list[str](), list[str](), False, self._option_string_actions
        for word in arguments:
            option = _OPTION.match(word)
            (options if value or option else words).append(word)
            # Of an option that is abbreviated as well.
            named = [action.nargs for name, action in known.items() if option and name.startswith(option[0])]
            if option and not named:  # before what its value, taken for an argument, would be refused for
                self.error(f"unrecognized arguments: {word}")
            value = option is not None and option[0] == word and any(nargs != 0 for nargs in named)
        return words + options

    def error(self, message: str) -> NoReturn:
        """Print the refusal and end with code 2."""
        if (elsewhere := self.get_default("elsewhere")) and _NO_STACK.search(message):
            self.exit(2, f"{self.prog}: name a stack, or for what has no stack file: {elsewhere}\n")
        given, words = "", list[str]()
        if match := _CHOICE.search(message):
            given, words = match["given"], [word.strip(" '") for word in match["known"].split(",")]
        elif match := _UNKNOWN.search(message):
            given, words = match["given"], sorted(self._option_string_actions)
        near = difflib.get_close_matches(given, words, n=1, cutoff=0.75)
        super().error(f"{message.partition(' (choose from')[0]}; did you mean {near[0]}?" if near else message)


_CHOICE: Final = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)$")
_OPTION: Final = re.compile(r"--[^=\s]+|-[a-zA-Z]")
_NO_STACK: Final = re.compile("argument.* required:.*(STACK|--stack)|one of the arguments STACK .*required")
_UNKNOWN: Final = re.compile(r"unrecognized arguments: (?P<given>-[^ =]*)")
"""Texts of argparse, with and without quotes around choices (Python 3.11 to 3.13)."""


def make() -> argparse.ArgumentParser:
    """The parser with every command."""
    parser: argparse.ArgumentParser = Parser(prog=PROGRAM, usage=_USAGE)
    parser.add_argument("--version", action="version", version=f"slipway {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.add_argument(
        "--completion",
        action=_Completion,
        choices=("bash", "fish", "zsh"),
        metavar="SHELL",
        help="print a script for completion in bash, fish or zsh",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", prog=PROGRAM)
    for command in COMMANDS:
        _add(commands, command)
    return parser


def _add(commands: Commands, command: Command) -> None:
    formatter = argparse.RawDescriptionHelpFormatter if command.epilog else argparse.HelpFormatter
    parser = commands.add_parser(
        command.name, help=command.summary, usage=command.usage, epilog=command.epilog, formatter_class=formatter
    )
    _add_arguments(parser, command.arguments)
    if command.commands:
        below = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        for each in command.commands:
            _add(below, each)
    else:
        parser.set_defaults(run=command.start, elsewhere=command.elsewhere, **command.defaults)


def _add_arguments(to: argparse._ActionsContainer, rows: Mapping[str, Any]) -> None:
    for key, given in rows.items():
        row = SHARED[key] if given is None else given
        if key in ("either", "one of"):
            _add_arguments(to.add_mutually_exclusive_group(required=key == "one of"), row)
        elif "arguments" in row and not isinstance(row, str):
            group = to.add_argument_group(row["title"], row.get("description")) if "title" in row else to
            _add_arguments(group, row["arguments"])
        else:
            _add_argument(to, key.split(), {"help": row} if isinstance(row, str) else dict(row))


def _add_argument(to: argparse._ActionsContainer, words: Sequence[str], more: dict[str, Any]) -> None:
    """Add an argument of these names, with or without a word for its value."""
    names = [word for word in words if word.startswith("-")] or words[:1]
    if len(words) > len(names):
        more["metavar"] = words[-1]
    elif "choices" not in more:
        more["action"] = "store_true"  # an option without a value
    if bounds := more.pop("between", None):
        more["type"] = grammar.between(*bounds)
    elif kind := more.get("type"):
        more["type"] = grammar.TYPES[kind]
    to.add_argument(*names, **more)


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in arguments:
        return arguments, []
    index = arguments.index("--")
    return arguments[:index], arguments[index + 1 :]

"""The grammar of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from slipway import __version__
from slipway.cli import (
    charts,
    check,
    completion,
    cost,
    doctor,
    fit,
    init,
    operations,
    policies,
    prices,
    quickstart,
    recover,
    render,
    report,
    sandbox,
    trial,
    verify,
    why,
)

DESCRIPTION = """\
Provision an ML platform on Amazon EKS, or rehearse it in a local sandbox without an AWS account.

  slipway up dev --sandbox      bring up stack dev in the sandbox
  slipway check prod            check the settings of stack prod, in under a second
  slipway doctor                show what is missing on this machine
"""
GROUPS = (
    operations,
    recover,
    init,
    check,
    policies,
    render,
    cost,
    prices,
    report,
    fit,
    quickstart,
    charts,
    sandbox,
    doctor,
    verify,
    why,
    trial,
    completion,
)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command line, with `run`, the function that does the work.

    Arguments after `--` are not parsed; they become `extra`, which some commands pass to the engine. `parser` is the
    parser itself.

    Raises:
        SystemExit: The line is invalid (code 2), or it asks for help or the version (code 0).
    """
    ours, extra = _split(list(arguments))
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


def make() -> argparse.ArgumentParser:
    """The parser with every command."""
    parser = argparse.ArgumentParser(
        prog="slipway", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"slipway {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    for group in GROUPS:
        group.add(commands)
    return parser


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in arguments:
        return arguments, []
    index = arguments.index("--")
    return arguments[:index], arguments[index + 1 :]

"""`slipway completion SHELL`: print a script with which a shell completes commands and options."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from slipway.cli.commands import Commands

SHELLS: Final = ("bash", "zsh", "fish")
EPILOG: Final = """\
  bash   eval "$(slipway completion bash)"                      in ~/.bashrc
  zsh    slipway completion zsh > "${fpath[1]}/_slipway"        once, before compinit
  fish   slipway completion fish > ~/.config/fish/completions/slipway.fish
"""


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "completion",
        help="print a script that completes commands and options in a shell",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script, which shtab derives from the parser that read this command line."""
    import shtab  # noqa: PLC0415 - no other command needs it

    print(shtab.complete(options.parser, shell=options.shell))
    return 0

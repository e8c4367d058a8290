"""`slipway cost STACK`: what the stack costs per hour, at its least and at its most."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.engine.project import find

if TYPE_CHECKING:
    from slipway.cli.parser import Commands


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("cost", help="what a stack costs per hour, at its least and at its most")
    parser.add_argument("stack", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
    parser.add_argument("--strict", action="store_true", help="take warnings about the settings for errors")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Price the settings; nothing else is asked."""
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it

    loaded = checked(find(Path.cwd()), options.stack, strict=options.strict)
    from slipway.cost import estimate, table  # noqa: PLC0415 - reads the catalog; a wrong file needs none of it

    print(table(estimate(loaded.platform)), end="")
    return 0

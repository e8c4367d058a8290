"""`slipway report STACK --out DIR`: an HTML page on the stack, and a pull request comment."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.engine.project import find

if TYPE_CHECKING:
    from slipway.cli.commands import Commands


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("report", help="write a report on a stack: HTML page and pull request comment")
    parser.add_argument("stack", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder to write index.html and report.md to"
    )
    parser.add_argument("--against", metavar="REF", help="compare with a commit, branch or tag")
    parser.add_argument(
        "--plan", type=Path, metavar="FILE.json",
        help="show this Pulumi plan: the output of `pulumi preview --json`, or an event log",
    )  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="treat warnings about the settings as errors")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the settings, then write the report; findings about the stack do not fail the command."""
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it

    project = find(Path.cwd())
    loaded = checked(project, options.stack, strict=options.strict)
    from slipway.report.make import COMMENT, PAGE, Request, make, prepare, write  # noqa: PLC0415 - imports the SDK

    prepare(options.out)
    report = make(project, loaded, Request(stack=options.stack, against=options.against, plan=options.plan))
    write(report, options.out)
    print(f"stack {options.stack}: wrote {options.out / PAGE} (the page) and {options.out / COMMENT} (the comment)")
    return 0

"""`slipway render STACK --out DIR`: write the program's resources as files, without the engine."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.engine.project import find

if TYPE_CHECKING:
    from slipway.cli.commands import Commands


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("render", help="write every resource, manifest and Helm value as files")
    parser.add_argument("stack", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder to write; its contents are replaced"
    )
    parser.add_argument(
        "--format",
        choices=("pulumi", "terraform"),
        default="pulumi",
        help="terraform: only the AWS resources, as main.tf.json, for tools such as Checkov, Trivy and Infracost",
    )
    parser.add_argument("--strict", action="store_true", help="treat warnings about the settings as errors")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the settings, then render."""
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it

    project = find(Path.cwd())
    checked(project, options.stack, strict=options.strict)
    from slipway.render import render  # noqa: PLC0415 - imports the SDK

    rendering = render(options.stack, options.out, stacks=project.stacks, written_as=options.format)
    count = sum(one.exists for one in rendering.recording)
    print(f"stack {options.stack}: {count} resources rendered to {options.out}")
    return 0

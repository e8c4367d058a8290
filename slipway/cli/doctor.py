"""`slipway doctor`: show what is missing on this machine, and how to fix it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.cli.output import table
from slipway.engine.project import find
from spec import clock

if TYPE_CHECKING:
    from slipway.cli.commands import Commands


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("doctor", help="show what is missing on this machine, and how to fix it")
    parser.set_defaults(run=run)


def run(_options: argparse.Namespace) -> int:
    """Print every finding; 1 if one of them prevents `slipway up STACK --sandbox`."""
    from slipway.cli import checks, machine, offline  # noqa: PLC0415 - `slipway --help` needs none of it
    from spec.catalog.ageing import ageing  # noqa: PLC0415 - as above

    today = clock.today()
    findings = [
        machine.python(),
        *machine.tools(),
        machine.engine_and_sdk(),
        machine.cache(),
        machine.disk(),
        checks.sandbox(offline.status()),
        checks.day(today),
        checks.catalog(ageing(today)),
        *checks.stack_files(find(Path.cwd())),
        checks.aws_variables(os.environ),
    ]
    print(report(findings))
    return 1 if any(finding.level is checks.Level.FAILED for finding in findings) else 0


def report(findings: list[checks.Finding]) -> str:
    """The table of findings, followed by the fixes."""
    rows = [(finding.level.value, finding.what, finding.state) for finding in findings]
    fixes = [f"{finding.what}: {finding.fix}" for finding in findings if finding.fix]
    text = table(rows)
    return text if not fixes else "\n".join([text, "", "To do:", *(f"  - {fix}" for fix in fixes)])


if TYPE_CHECKING:
    from slipway.cli import checks

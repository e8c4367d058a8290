"""`slipway doctor`: show what is missing on this machine, or in a stack's AWS account, and how to fix it."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.cli.output import table
from slipway.engine.project import find
from slipway.findings import Finding, Level
from spec import clock

if TYPE_CHECKING:
    from slipway.cli.commands import Commands


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("doctor", help="show what is missing on this machine, and how to fix it")
    parser.add_argument(
        "--aws",
        metavar="STACK",
        help="check the AWS account of a stack instead: identity, quotas, zones, versions, state. It only reads",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print every finding; 1 if one of them prevents `slipway up STACK`, in the sandbox or with `--aws` on AWS."""
    findings = _machine() if options.aws is None else _account(options.aws)
    print(json.dumps([as_data(one) for one in findings], indent=2) if options.json else report(findings))
    return 1 if any(finding.level is Level.FAILED for finding in findings) else 0


def _machine() -> list[Finding]:
    from slipway.cli import checks, machine, offline  # noqa: PLC0415 - `slipway --help` needs none of it
    from spec.catalog.ageing import ageing  # noqa: PLC0415 - as above

    today = clock.today()
    return [
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


def _account(stack: str) -> list[Finding]:
    from slipway.account.context import Context, session  # noqa: PLC0415 - boto3 takes 0.3 s
    from slipway.account.examination import examine  # noqa: PLC0415 - as above
    from slipway.cli.settings import checked  # noqa: PLC0415 - as above
    from slipway.engine import backend  # noqa: PLC0415 - as above

    project = find(Path.cwd())
    platform = checked(project, stack).platform
    context = Context(platform, session(platform.account.region), backend.current(project, stack, os.environ))
    return examine(context)


def as_data(finding: Finding) -> dict[str, str]:
    """A finding as plain values; the level is `ok`, `note` or `failed`."""
    return {"level": finding.level.name.lower(), "what": finding.what, "state": finding.state, "fix": finding.fix}


def report(findings: list[Finding]) -> str:
    """The table of findings, followed by the fixes."""
    rows = [(finding.level.value, finding.what, finding.state) for finding in findings]
    fixes = dict.fromkeys(f"{finding.what}: {finding.fix}" for finding in findings if finding.fix)
    text = table(rows)
    return text if not fixes else "\n".join([text, "", "To do:", *(f"  - {fix}" for fix in fixes)])

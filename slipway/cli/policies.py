"""`slipway policies STACK`: evaluate the policy pack on the program's resources, without the engine."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.engine.project import find
from spec import clock
from spec.errors import EXIT_FAILURE

if TYPE_CHECKING:
    from policies.runner import Finding
    from slipway.cli.commands import Commands


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("policies", help="evaluate a stack against the policy pack, without the engine")
    parser.add_argument("stack", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
    parser.add_argument(
        "--manifests", type=Path, action="append", default=[], metavar="DIR",
        help="also evaluate the Kubernetes manifests (YAML or JSON) in a folder; repeatable",
    )  # fmt: skip
    parser.add_argument("--suppressed", action="store_true", help="also show suppressed findings, with the reason")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--strict", action="store_true", help="treat warnings about the settings as errors")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the settings, run the program, evaluate every rule; 1 if a mandatory rule is violated."""
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it

    project = find(Path.cwd())
    loaded = checked(project, options.stack, strict=options.strict)
    from policies import manifests  # noqa: PLC0415 - imports the SDK
    from slipway.render import evaluation  # noqa: PLC0415 - as above
    from slipway.render.program import record_platform  # noqa: PLC0415 - as above

    today = clock.today()
    recording = record_platform(loaded.platform, stack=options.stack, preview=True)
    findings = evaluation.check(recording, today)
    for folder in options.manifests:
        findings += manifests.findings_for_manifests(manifests.read(folder), stack=options.stack, today=today)
    return report(options, findings, today, sum(one.exists for one in recording))


def report(options: argparse.Namespace, findings: Sequence[Finding], today: date, resources: int) -> int:
    """Print the findings, and their number to stderr; the exit code."""
    shown = [as_data(one, options.stack, today) for one in findings if options.suppressed or one.counts(today)]
    mandatory = sum(one["level"] == "mandatory" for one in shown)
    if options.json:
        print(json.dumps(shown, indent=2))
        return EXIT_FAILURE if mandatory else 0
    for one in shown:
        print(f"{one['level']} {one['rule']} {one['urn']}\n  {one['message']}")
    suppressed = sum(not one.counts(today) for one in findings)
    print(
        f"stack {options.stack}: {resources} resources, {mandatory} mandatory and "
        f"{sum(one['level'] == 'advisory' for one in shown)} advisory findings, {suppressed} suppressed",
        file=sys.stderr,
    )
    return EXIT_FAILURE if mandatory else 0


def as_data(one: Finding, stack: str, today: date) -> dict[str, Any]:
    """A finding as plain values, for text and JSON output."""
    from policies.levels import environment  # noqa: PLC0415 - as above
    from policies.rules import BY_NAME  # noqa: PLC0415 - as above

    suppression = one.suppression
    plain: dict[str, Any] = {
        "rule": one.id,
        "level": BY_NAME[one.rule].levels.of(environment(stack)).value if one.counts(today) else "suppressed",
        "severity": BY_NAME[one.rule].severity.value,
        "urn": one.urn,
        "path": one.path,
        "message": one.message if one.counts(today) else f"{one.text} Suppressed: {suppression and suppression.reason}",
    }
    if suppression is not None:
        plain["suppression"] = {
            "reason": suppression.reason,
            "owner": suppression.owner,
            "until": suppression.until.isoformat(),
        }
    return plain

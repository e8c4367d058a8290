"""`slipway policies STACK`: the policy pack on the program's own resources, without an engine."""

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
    parser = commands.add_parser("policies", help="judge a stack by the policy pack, without an engine")
    parser.add_argument("stack", metavar="STACK", help="name of a stack: stacks/Pulumi.STACK.yaml")
    parser.add_argument(
        "--manifests", type=Path, action="append", default=[], metavar="DIR",
        help="judge Kubernetes manifests (YAML or JSON) of a folder as well; may be repeated",
    )  # fmt: skip
    parser.add_argument("--suppressed", action="store_true", help="show what is excused as well, with the reason")
    parser.add_argument("--json", action="store_true", help="print findings as JSON")
    parser.add_argument("--strict", action="store_true", help="take warnings about the settings for errors")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the settings, run the program, ask every rule; fails where a mandatory one is broken."""
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it

    project = find(Path.cwd())
    loaded = checked(project, options.stack, strict=options.strict)
    from policies import manifests  # noqa: PLC0415 - imports the SDK
    from slipway.render import evaluation  # noqa: PLC0415 - as above
    from slipway.render.program import record_platform  # noqa: PLC0415 - as above

    today = clock.today()
    recording = record_platform(loaded.platform, stack=options.stack, preview=True)
    found = evaluation.check(recording, today)
    for folder in options.manifests:
        found += manifests.findings_for_manifests(manifests.read(folder), stack=options.stack, today=today)
    return report(options, found, today, len(recording))


def report(options: argparse.Namespace, found: Sequence[Finding], today: date, resources: int) -> int:
    """Say what was found; the exit code."""
    rows = [row(one, options.stack, today) for one in found if options.suppressed or one.counts(today)]
    broken = sum(one["level"] == "mandatory" for one in rows)
    if options.json:
        print(json.dumps(rows, indent=2))
        return EXIT_FAILURE if broken else 0
    for one in rows:
        print(f"{one['level']} {one['rule']} {one['urn']}\n  {one['message']}")
    suppressed = sum(not one.counts(today) for one in found)
    print(
        f"stack {options.stack}: {resources} resources, {broken} mandatory and "
        f"{sum(one['level'] == 'advisory' for one in rows)} advisory findings, {suppressed} suppressed",
        file=sys.stderr,
    )
    return EXIT_FAILURE if broken else 0


def row(one: Finding, stack: str, today: date) -> dict[str, Any]:
    """A finding in plain values, for people and for tools."""
    from policies.levels import environment  # noqa: PLC0415 - as above
    from policies.rules import BY_NAME  # noqa: PLC0415 - as above

    suppression = one.suppression
    plain: dict[str, Any] = {
        "rule": one.id,
        "level": BY_NAME[one.rule].levels.of(environment(stack)).value if one.counts(today) else "suppressed",
        "severity": BY_NAME[one.rule].severity.value,
        "urn": one.urn,
        "path": one.path,
        "message": one.message if one.counts(today) else f"{one.text} Excused: {suppression and suppression.reason}",
    }
    if suppression is not None:
        plain["suppression"] = {
            "reason": suppression.reason,
            "owner": suppression.owner,
            "until": suppression.until.isoformat(),
        }
    return plain

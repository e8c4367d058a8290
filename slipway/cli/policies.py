"""`slipway policies STACK`: evaluate the policy pack on the program's resources, without the engine."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.cli.findings import narrow, wide
from slipway.engine.project import Project, find
from spec import clock
from spec.errors import EXIT_FAILURE, EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from policies.review import Base
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
    parser.add_argument(
        "--against", metavar="REF",
        help="evaluate with the suppressions and levels of a commit, and list what the tree changes in them",
    )  # fmt: skip
    parser.add_argument("--wide", action="store_true", help="each finding with its whole URN, in more than 80 columns")
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
    objects = [manifests.read(folder) for folder in options.manifests]
    before = base_of(project, options.against, options.stack) if options.against else None
    suppressions = before.suppressions if before else None
    judgement = evaluation.judge(
        lambda preview: record_platform(loaded.platform, stack=options.stack, preview=preview),
        today, suppressions, before.enabled if before else (),
    )  # fmt: skip
    findings = list(judgement.findings)
    for each in objects:
        findings += manifests.findings_for_manifests(each, stack=options.stack, today=today, suppressions=suppressions)
    for urn, path in judgement.undecided:
        print(f"undecided until the update: {path} of {urn}", file=sys.stderr)
    return report(options, findings, today, sum(one.exists for one in judgement.recording), before)


def base_of(project: Project, ref: str, stack: str) -> Base:
    """The pack at a commit.

    Raises:
        SlipwayError: The commit is unknown, or has no policy pack.
    """
    from policies import review  # noqa: PLC0415 - as above
    from policies.levels import environment  # noqa: PLC0415 - as above

    files = ("policies/suppressions.yaml", f"policies/levels/{environment(stack)}.json", *review.TYPES)
    texts = []
    for file in files:
        done = subprocess.run(
            ["git", "-C", str(project.root), "show", "--end-of-options", f"{ref}:{file}"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            msg = (
                f"--against {ref}: git has no {file} there ({done.stderr.strip().rstrip('.')}). "
                "Name a commit, branch or tag that has the policies; a shallow clone has one commit only."
            )
            raise SlipwayError(msg, EXIT_REFUSED)
        texts.append(done.stdout)
    return review.base(*texts)


def report(
    options: argparse.Namespace, findings: Sequence[Finding], today: date, resources: int, before: Base | None = None
) -> int:
    """Print the findings, and their number to stderr; the exit code."""
    shown = [as_data(one, options.stack, today, before) for one in findings if options.suppressed or one.counts(today)]
    mandatory = sum(one["level"] == "mandatory" for one in shown)
    if options.json:
        print(json.dumps(shown, indent=2))
        return EXIT_FAILURE if mandatory else 0
    for line in (wide if options.wide else narrow)(shown):
        print(line)
    if before is not None:
        for sentence in weakenings(before, options.stack):
            print(f"review: the change {sentence}")
    checks = len({one["rule"] for one in shown if one["level"] != "suppressed"})
    suppressed = sum(not one.counts(today) for one in findings)
    print(
        f"stack {options.stack}: {resources} resources, {mandatory} mandatory and "
        f"{sum(one['level'] == 'advisory' for one in shown)} advisory findings"
        f"{f' of {checks} check' if checks else ''}{'s' if checks > 1 else ''}, {suppressed} suppressed"
        f"{'' if options.wide or not shown else '; --wide shows URNs'}",
        file=sys.stderr,
    )
    return EXIT_FAILURE if mandatory else 0


def weakenings(before: Base, stack: str) -> list[str]:
    """What the tree changes in the pack, for reviewers."""
    from policies import pack, review, suppressions  # noqa: PLC0415 - as above
    from policies.levels import environment  # noqa: PLC0415 - as above

    return review.weakened(before, suppressions.load(pack.identities()), environment(stack))


def as_data(one: Finding, stack: str, today: date, before: Base | None = None) -> dict[str, Any]:
    """A finding as plain values, for text and JSON output."""
    from policies.levels import environment  # noqa: PLC0415 - as above
    from policies.rules import BY_NAME  # noqa: PLC0415 - as above

    suppression = one.suppression
    level = BY_NAME[one.rule].levels.of(environment(stack)).value
    if before is not None:
        level = before.level(one.rule, level)
    plain: dict[str, Any] = {
        "rule": one.id,
        "level": level if one.counts(today) else "suppressed",
        "severity": BY_NAME[one.rule].severity.value,
        "urn": one.urn,
        "path": one.path,
        "value": one.value,
        "message": one.message if one.counts(today) else f"{one.text} Suppressed: {suppression and suppression.reason}",
    }
    if suppression is not None:
        plain["suppression"] = {
            "reason": suppression.reason,
            "owner": suppression.owner,
            "until": suppression.until.isoformat(),
        }
    return plain

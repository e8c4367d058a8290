"""`slipway policies STACK`: evaluate the policy pack on the program's resources, without the engine."""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

from policies import manifests, pack, review, suppressions
from policies.review import Base
from policies.rule import environment
from policies.rules import BY_NAME, rendering, rules_of
from policies.runner import Finding
from policies.stack_file import Program, program_of
from slipway.cli.check import checked
from slipway.engine.project import Project, find, git, take_out
from slipway.engine.stacks import STACKS, stack_file
from slipway.render import evaluation
from slipway.render.program import record_platform
from slipway.report.plan import kind
from slipway.report.plan.compare import baseline
from spec import clock
from spec.errors import EXIT_FAILURE, SlipwayError, refuse, visible
from spec.settings import Platform, load, read_stack


def run(options: argparse.Namespace) -> int:
    """Check the settings, run the program, evaluate every rule; 1 if a mandatory rule is violated."""
    project = find(Path.cwd())
    loaded = checked(project, options.stack)

    today = clock.today()
    objects = [manifests.read(place) for place in options.manifests]
    before = base_of(project, options.against, options.stack) if options.against else None
    suppressions = before.suppressions if before else None
    given = given_by(project, options.stack, options.against) if before else None
    judgement = evaluation.judge(
        lambda preview: record_platform(loaded.platform, stack=options.stack, preview=preview),
        today, suppressions, before.enabled if before else (), given.program if given else None,
    )  # fmt: skip
    findings = list(judgement.findings)
    if given is not None and given.settings is not None:
        earlier = record_platform(given.settings, stack=options.stack)
        found = evaluation.check(earlier, today, suppressions, program=given.earlier)
        findings += [one for one in found if one.rule in {rule.name for rule in rules_of(rendering)}]
    for each in objects:
        findings += manifests.findings_for_manifests(
            each, stack=options.stack, today=today, suppressions=suppressions, account=loaded.platform.account.id
        )
    for urn, path in judgement.undecided:
        print(f"undecided until the update: {path} of {urn}", file=sys.stderr)
    if given is not None and given.note:
        print(f"review: {given.note}")
    return report(options, findings, today, sum(one.exists for one in judgement.recording), before)


def base_of(project: Project, ref: str, stack: str) -> Base:
    """The pack at a commit."""
    files = ("policies/suppressions.yaml", f"policies/levels/{environment(stack)}.json")
    texts = [_git(project, ref, f"has no {file} there", "show", "--end-of-options", f"{ref}:{file}") for file in files]
    names = ("diff", "--name-only", "--end-of-options", ref, "--", ".", *(f":(exclude){one}" for one in review.UNNAMED))
    changed = _git(project, ref, "has no such commit", *names)
    return review.base(*texts, changed=changed.splitlines())


@dataclass(frozen=True, kw_only=True)
class Given:
    """What the program's code at a commit gives."""

    program: Program | None = None  # for this tree's settings
    settings: Platform | None = None  # the settings at the commit, where its code can't read this tree's
    earlier: Program | None = None  # for those settings
    note: str = ""  # what could not be compared, for reviewers


def given_by(project: Project, stack: str, ref: str) -> Given:
    """What the code at a commit gives for this tree's settings: only a change of code makes a difference.

    If that code can't read newer settings, both codes are compared on those of the commit.
    """
    newer = baseline(project, stack, ref, stack_file(project.stacks, stack))
    if not newer.problem:
        return Given(program=program_of(newer.resources, newer.outputs))
    note = f"the code of {newer.name} can't render this stack file ({newer.problem})"
    older = baseline(project, stack, ref)
    if older.problem or older.new:
        return Given(note=f"{note}: the program was compared with nothing")
    with tempfile.TemporaryDirectory(prefix="slipway-settings-") as folder:
        take_out(project, ref, Path(folder), under=STACKS)
        try:
            settings = load(read_stack(stack, Path(folder) / STACKS), stack=stack).platform
        except SlipwayError as error:
            return Given(
                note=f"{note}, and this code not that of {ref} ({error}): the program was compared with nothing"
            )
    return Given(
        settings=settings,
        earlier=program_of(older.resources, older.outputs),
        note=f"{note}: both codes were compared with the stack file of {ref}",
    )


def _git(project: Project, ref: str, wrong: str, *command: str) -> str:
    """What git prints."""
    done = git(project, *command)
    if done.returncode:
        refuse(
            f"--against {ref}: git {wrong} ({done.stderr.decode(errors='replace').strip().rstrip('.')}). "
            "Name a commit, branch or tag that has the policies; a shallow clone has one commit only."
        )
    return done.stdout.decode()


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
        print(visible(line))
    if before is not None:
        for sentence in weakenings(before, options.stack):
            print(visible(f"review: the change {sentence}"))
    suppressed = sum(not one.counts(today) for one in findings)
    checks = len({one["rule"] for one in shown if one["level"] != "suppressed"})
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
    return review.weakened(before, suppressions.load(pack.identities()), environment(stack))


def as_data(one: Finding, stack: str, today: date, before: Base | None = None) -> dict[str, Any]:
    """A finding as plain values, for text and JSON output."""
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


FALLBACK: Final = 80  # columns without a terminal


def wide(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A finding on two lines: level, check and URN, then its message."""
    for one in findings:
        yield f"{one['level']} {one['rule']} {one['urn']}"
        yield f"  {one['message']}"


def narrow(findings: Sequence[Mapping[str, Any]], columns: int | None = None) -> Iterator[str]:
    """Findings with the same check and message together: the resources by kind and name, and the message once.

    Args:
        findings: Findings as plain values (`slipway.cli.policies.as_data`).
        columns: Longest line; the width of the terminal, 80 without one, if None.
    """
    columns = columns or shutil.get_terminal_size((FALLBACK, 24)).columns
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in findings:
        text = one["message"].removeprefix(f"[{one['rule'].rpartition('/')[2]}] ")
        text = text.removeprefix(f"{one['urn'].rpartition('::')[2]}: ")
        groups.setdefault((one["level"], one["rule"], text), []).append(resource(one["urn"]))
    for (level, rule, text), resources in groups.items():
        yield f"{level} {rule}"
        for line in (*resources, text):
            indent = "    " if line is text else "  "
            yield from wrap(line, columns, initial_indent=indent, subsequent_indent="    ", break_on_hyphens=False)


def resource(urn: str) -> str:
    """Kind and logical name of a resource: `NodePool pool-a100-node-pool`; `the stack` without a URN."""
    if not urn:
        return "the stack"
    _, _, types, name = urn.split("::", 3)
    return f"{kind(types.rpartition('$')[2]).partition(' (')[0]} {name}"

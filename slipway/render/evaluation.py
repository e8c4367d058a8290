"""Evaluates the policy pack on a recording of the program, without the engine: for tests, reports and pull requests.

The rules are those that the engine evaluates in a preview or an update.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from pulumi_policy import EnforcementLevel

from policies.pack import identities
from policies.resources.access import UNKNOWN
from policies.resources.resource import Resource, Stack
from policies.rule import Context, ResourceRule, environment
from policies.rules import RULES
from policies.runner import Finding, findings
from policies.stack_file import Program, from_platform
from policies.suppressions import Suppressions, load
from slipway.render.layout import options_of
from slipway.render.recording import UNKNOWN as UNKNOWN_TEXT
from slipway.render.recording import RecordedResource, Recording


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What the pack finds in a stack before anything is created."""

    recording: Recording  # the run of the program as an update, with samples for what AWS would answer
    findings: Sequence[Finding]  # findings of that run, and those that a preview alone has
    undecided: Sequence[tuple[str, str]]
    """URN and path of each input that has no value even so: the engine judges it during the update."""


def judge(
    record: Callable[[bool], Recording],
    today: date,
    suppressions: Suppressions | None = None,
    enabled: Collection[str] = (),
    program: Program | None = None,
) -> Judgement:
    """Judges the inputs that the program composes from values which a preview does not know, such as policies with the
    ARN of a new bucket. A stack rule of the engine sees those only once everything exists.

    Args:
        record: Runs the program; the argument is whether as a preview.
        today: As for `check`.
        suppressions: As for `check`.
        enabled: As for `check`.
        program: As for `check`; the run as an update is compared.
    """
    update = record(False)
    found = check(update, today, suppressions, enabled, program)
    seen = {(one.id, one.urn, one.path) for one in found}
    preview = check(record(True), today, suppressions, enabled)
    return Judgement(
        recording=update,
        findings=[*found, *(one for one in preview if (one.id, one.urn, one.path) not in seen)],
        undecided=[(one.urn, path) for one in update for path in one.inputs.unknowns],
    )


def check(
    recording: Recording,
    today: date,
    suppressions: Suppressions | None = None,
    enabled: Collection[str] = (),
    program: Program | None = None,
) -> list[Finding]:
    """The findings, including suppressed ones, with the levels and rule settings of the stack's environment.

    Args:
        today: Date for the expiry of suppressions and the support of versions.
        suppressions: Suppressions; by default those of the pack.
        enabled: Rules that are evaluated even if they are off in the environment.
        program: What other code gives for the same settings, to compare the recording with.
    """
    stage = environment(recording.stack)
    suppressions = suppressions if suppressions is not None else load(identities())
    stack_file = from_platform(recording.platform, program) if recording.platform else None
    inputs, stack = resources(recording, outputs=False), Stack(tuple(resources(recording, outputs=True).values()))
    result = []
    for rule in RULES:
        if rule.levels.of(stage) is EnforcementLevel.DISABLED and rule.name not in enabled:
            continue
        context = Context(settings=rule.defaults(stage), today=today, stack_file=stack_file)
        subjects = list(inputs.values()) if isinstance(rule, ResourceRule) else [stack]
        for subject in subjects:
            result += findings(rule, subject, context, suppressions)
    return result


def resources(recording: Recording, *, outputs: bool) -> dict[str, Resource]:
    """Resources by URN: with inputs only for resource rules; with outputs merged over the inputs for stack rules."""
    by_urn = {one.urn: _resource(recording, one, outputs=outputs) for one in recording}
    for one in recording:
        for key, urns in one.options.property_dependencies.items():
            by_urn[one.urn].sources[key] = tuple(by_urn[urn] for urn in urns)
    return by_urn


def _resource(recording: Recording, one: RecordedResource, *, outputs: bool) -> Resource:
    provider = recording.resources.get(one.options.provider or "")
    values = {**one.inputs.plain, **one.outputs.plain} if outputs else one.inputs.plain
    return Resource(
        type=one.type,
        name=one.name,
        urn=one.urn,
        read=lambda: _known(values),
        protect=one.options.protect,
        ignore_changes=one.options.ignore_changes,
        delete_before_replace=one.options.delete_before_replace,
        provider=provider.inputs.plain if provider else {},
        options=options_of(one),
    )


def _known(value: Any) -> Any:
    if value == UNKNOWN_TEXT:
        return UNKNOWN
    if isinstance(value, Mapping):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_known(item) for item in value]
    return value

"""The pack on a program that was run without an engine (`slipway.render`): for tests, reports, and pull requests.

What the engine would ask at a preview or an update is asked here of a recording, by the same rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from pulumi_policy import EnforcementLevel

from policies.access import UNKNOWN
from policies.levels import environment
from policies.pack import identities
from policies.resource import Resource, Stack
from policies.rule import Context, ResourceRule
from policies.rules import RULES
from policies.runner import Finding, findings
from policies.suppressions import Suppressions, load
from slipway.render.recording import RecordedResource, Recording
from slipway.render.values import UNKNOWN as MARK


def check(recording: Recording, today: date, suppressions: Suppressions | None = None) -> list[Finding]:
    """What the pack finds, suppressed findings among them, by the rules and settings of the stack's environment."""
    stage = environment(recording.stack)
    suppressions = suppressions if suppressions is not None else load(identities())
    inputs, stack = resources(recording, outputs=False), Stack(tuple(resources(recording, outputs=True).values()))
    found = []
    for rule in RULES:
        if rule.levels.of(stage) is EnforcementLevel.DISABLED:
            continue
        context = Context(settings=rule.defaults(stage), today=today)
        subjects = list(inputs.values()) if isinstance(rule, ResourceRule) else [stack]
        for subject in subjects:
            found += findings(rule, subject, context, suppressions)
    return found


def resources(recording: Recording, *, outputs: bool) -> dict[str, Resource]:
    """Resources by URN: with inputs for rules of one resource, with outputs over them for rules of a stack."""
    found = {one.urn: _resource(recording, one, outputs=outputs) for one in recording}
    for one in recording:
        for key, urns in one.options.property_dependencies.items():
            found[one.urn].sources[key] = tuple(found[urn] for urn in urns)
    return found


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
    )


def _known(value: Any) -> Any:
    if value == MARK:
        return UNKNOWN
    if isinstance(value, Mapping):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_known(item) for item in value]
    return value

"""Runs rules: on what the engine asks about, and on a recording or a fixture, by the same path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from pulumi_policy import (
    ReportViolation,
    ResourceValidationArgs,
    StackValidationArgs,
)

from policies.access import WrongTypeError, plain
from policies.resource import Resource, Stack, from_analysis, from_validation
from policies.rule import AnyRule, Check, Context, ResourceRule, StackRule, Subject, Violation
from policies.suppressions import Suppression, Suppressions


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A violation.

    Attributes:
        rule: Name of the rule.
        check: Key of the check.
        urn: URN of the resource that is wrong.
        path: Property of it that is wrong; empty where it is wrong as a whole.
        text: What is wrong, and how to mend it.
        suppression: What excuses it, or excused it until it expired.
    """

    rule: str
    check: str
    urn: str
    path: str
    text: str
    suppression: Suppression | None = None

    @property
    def id(self) -> str:
        """Identity of the question that was answered badly: `eks-no-world-endpoint/cidrs`."""
        return f"{self.rule}/{self.check}"

    def counts(self, today: date) -> bool:
        """Whether it is to be reported: nothing excuses it, or what does has expired."""
        return self.suppression is None or self.suppression.expired(today)

    @property
    def message(self) -> str:
        """The text, with the suppression that no longer holds."""
        if self.suppression is None:
            return self.text
        return f"{self.text} Its suppression ({self.suppression.reason}) expired on {self.suppression.until}."


def findings(rule: AnyRule, subject: Resource | Stack, context: Context, suppressions: Suppressions) -> list[Finding]:
    """Everything that a rule finds in a resource or a stack, suppressed or not."""
    found = []
    for key, violation in _violations(rule, subject, context):
        at = violation.at or (subject if isinstance(subject, Resource) else None)
        urn = at.urn if at else ""
        identity = f"{rule.name}/{key}"
        found.append(
            Finding(
                rule=rule.name,
                check=key,
                urn=urn,
                path=violation.path,
                text=_text(rule, key, violation, at),
                suppression=suppressions.find(identity, urn),
            )
        )
    return found


def _violations(rule: AnyRule, subject: Resource | Stack, context: Context) -> Iterator[tuple[str, Violation]]:
    if isinstance(rule, ResourceRule) and isinstance(subject, Resource) and rule.looks_at(subject.type):
        for key, one in rule.checks.items():
            yield from _ask(key, one, subject, context)
    elif isinstance(rule, StackRule) and isinstance(subject, Stack):
        for key, many in rule.checks.items():
            yield from _ask(key, many, subject, context)


def _ask(key: str, check: Check[Subject], subject: Subject, context: Context) -> Iterator[tuple[str, Violation]]:
    """A value of the wrong type is a violation of the check that read it: what can't be judged is not let through."""
    try:
        for violation in check.find(subject, context):
            yield key, violation
    except WrongTypeError as error:
        yield key, Violation(path=error.node.path, got=f"{error.node.shown}, where {error.expected} belongs")


def _text(rule: AnyRule, key: str, violation: Violation, at: Resource | None) -> str:
    check = rule.checks[key]
    where = f"{at.name}: " if at and isinstance(rule, StackRule) else ""
    place = violation.path or ("the resource" if at else "the stack")
    return f"[{key}] {where}{place} {check.asks}; it is {violation.got}. {check.fix or rule.fix}"


def resource_callback(
    rule: ResourceRule, defaults: Mapping[str, Any], suppressions: Suppressions, today: Callable[[], date]
) -> Callable[[ResourceValidationArgs, ReportViolation], None]:
    """What the SDK calls for each resource."""

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        if not rule.looks_at(args.resource_type):
            return
        context = _context(defaults, args.get_config(), today())
        for finding in findings(rule, from_validation(args), context, suppressions):
            if finding.counts(context.today):
                report(finding.message, None)

    return validate


def stack_callback(
    rule: StackRule, defaults: Mapping[str, Any], suppressions: Suppressions, today: Callable[[], date]
) -> Callable[[StackValidationArgs, ReportViolation], None]:
    """What the SDK calls for a stack."""

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        context = _context(defaults, args.get_config(), today())
        for finding in findings(rule, from_analysis(args.resources), context, suppressions):
            if finding.counts(context.today):
                report(finding.message, finding.urn or None)

    return validate


def _context(defaults: Mapping[str, Any], given: Mapping[str, Any], today: date) -> Context:
    """Settings as configured, over the rule's own: the engine fills in defaults, other callers need not."""
    return Context(settings={**defaults, **plain(given)}, today=today)

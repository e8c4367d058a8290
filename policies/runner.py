"""Evaluates rules on resources and stacks, whether from the engine, a recording or a fixture."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from pulumi_policy import ReportViolation, ResourceValidationArgs, StackValidationArgs

from policies.evaluation.iam import home
from policies.resources.access import WrongTypeError, plain
from policies.resources.resource import Resource, Stack, from_analysis, from_engine
from policies.rule import AnyRule, Check, Context, ResourceRule, StackRule, Subject, Violation
from policies.stack_file import StackFile
from policies.suppressions import Suppression, Suppressions
from spec.errors import visible


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A violation of a rule by a resource, and the suppression that covers it, if any."""

    rule: str
    check: str  # key of the check
    urn: str  # URN of the resource; empty for the stack
    path: str  # path of the property; empty for the whole resource
    text: str  # the violation, and how to fix it
    value: str = ""  # the value that it names, which a suppression is bound to
    suppression: Suppression | None = None  # the suppression that covers it, even if expired
    other: Suppression | None = None  # without one, a suppression of this check and resource for another value

    @property
    def id(self) -> str:
        """ID of the check: `eks-no-world-endpoint/ranges`."""
        return f"{self.rule}/{self.check}"

    def counts(self, today: date) -> bool:
        """Whether it is reported: no suppression covers it, or the suppression is not valid."""
        return self.suppression is None or not self.suppression.valid(today)

    @property
    def message(self) -> str:
        """The text, with the suppression that is not valid."""
        if self.other is not None:
            accepted = " or ".join(f'"{one}"' for one in self.other.value)
            return f'{self.text} Its suppression is for {accepted}, and the value is now "{self.value}".'
        if self.suppression is None:
            return self.text
        until = self.suppression.until
        return f"{self.text} Its suppression ({self.suppression.reason}) is not valid: it is until {until}."


def findings(rule: AnyRule, subject: Resource | Stack, context: Context, suppressions: Suppressions) -> list[Finding]:
    """All violations of a rule by a resource or a stack, including suppressed ones."""
    result = []
    for key, violation in _violations(rule, subject, context):
        at = violation.at or (subject if isinstance(subject, Resource) else None)
        urn = at.urn if at else ""
        identity, value = f"{rule.name}/{key}", portable(violation.value or violation.got, at)
        suppression = suppressions.find(identity, urn, value)
        result.append(
            Finding(
                rule=rule.name,
                check=key,
                urn=urn,
                path=violation.path,
                text=_text(rule, key, violation, at),
                value=value,
                suppression=suppression,
                other=None if suppression else suppressions.find(identity, urn),
            )
        )
    return result


def portable(value: str, at: Resource | None) -> str:
    """A value with ACCOUNT and REGION in place of those of the resource's provider: one suppression is for all stacks,
    and a value in another account or Region is another value."""
    if at is None:
        return value
    for account in home(at):
        value = value.replace(account, "ACCOUNT")
    provider: Mapping[str, Any] = at.provider
    region = plain(provider["region"]) if "region" in list(provider) else None
    return value.replace(region, "REGION") if isinstance(region, str) and region else value


def _violations(rule: AnyRule, subject: Resource | Stack, context: Context) -> Iterator[tuple[str, Violation]]:
    if isinstance(rule, ResourceRule) and isinstance(subject, Resource) and rule.looks_at(subject.type):
        for key, one in rule.checks.items():
            if _binds(rule, key, [subject], context):
                yield from _evaluate(key, one, subject, context)
    elif isinstance(rule, StackRule) and isinstance(subject, Stack):
        for key, many in rule.checks.items():
            if _binds(rule, key, subject.resources, context):
                yield from _evaluate(key, many, subject, context)


OF_PLATFORM: Final = frozenset(
    {
        # Lists of what the platform uses: images, charts, drivers, roles, accounts, receivers.
        "accounts-known", "ecr-hardened/lifecycle", "eks-addon-own-role",
        "eks-core-addons-pinned/present",
        "exposure-internal/scheme", "gpu-type-allowed/allowed", "gpu-type-allowed/known", "helm-pinned/repository",
        "iam-no-admin/managed", "identity-issuers-known", "kserve-hardened",
        "lb-tls-internal/internal", "node-no-public-ip/pool", "node-role-minimal", "pod-roles-own",
        "pod-trusted-image/registry",
        "principals-known/account", "provider-of-the-cluster", "provider-plain",
        "resource-type-reviewed", "subscribers-listed",
        # Its conventions for cost, queues and pools.
        "budget-alarm-exists", "cost-tags-complete", "gpu-pod-schedulable",
        "job-bounded", "job-queue-and-priority", "pool-cost-cap", "spot-job-checkpoints", "workload-cost-labels",
    }
)  # fmt: skip
"""Rules, and checks as `rule/check`, which are true of the platform alone: its lists of what is allowed, and its
conventions. They bind its own program and what is below its components in another, but no other program."""


def _binds(rule: AnyRule, key: str, resources: Sequence[Resource], context: Context) -> bool:
    if context.of_platform or not {rule.name, f"{rule.name}/{key}"} & OF_PLATFORM:
        return True
    return any(one.type.startswith("slipway:") or "slipway:" in one.urn.split("::", 3)[2] for one in resources)


def _evaluate(key: str, check: Check[Subject], subject: Subject, context: Context) -> Iterator[tuple[str, Violation]]:
    """A value of the wrong type is a violation of the check that read it: what can't be evaluated must not pass."""
    try:
        for violation in check.find(subject, context):
            yield key, violation
    except WrongTypeError as error:
        yield key, Violation(path=error.node.path, got=f"{error.node.shown}, which is not {error.expected}")


def _text(rule: AnyRule, key: str, violation: Violation, at: Resource | None) -> str:
    check = rule.checks[key]
    where = f"{at.name}: " if at and isinstance(rule, StackRule) else ""
    place = violation.path or ("the resource" if at else "the stack")
    # The engine prints it as it is.
    return visible(
        f"[{key}] {where}{place} {check.asks}; it is {violation.got}. {rule.fix_of(key, at.urn if at else '')}"
    )


@dataclass(frozen=True, kw_only=True)
class Run:
    """What all rules of one run share."""

    suppressions: Suppressions  # accepted violations
    today: Callable[[], date]  # the current day
    stack_file: StackFile | None = None  # the settings of the stack, if the program has any

    def context(self, defaults: Mapping[str, Any], configured: Mapping[str, Any]) -> Context:
        """Configured settings over the rule's defaults: the engine sets defaults, other callers don't have to."""
        return Context(settings={**defaults, **plain(configured)}, today=self.today(), stack_file=self.stack_file)


def resource_callback(
    rule: ResourceRule, defaults: Mapping[str, Any], run: Run
) -> Callable[[ResourceValidationArgs, ReportViolation], None]:
    """The function that the SDK calls for each resource."""

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        if not rule.looks_at(args.resource_type):
            return
        context = run.context(defaults, args.get_config())
        for finding in findings(rule, from_engine(args), context, run.suppressions):
            if finding.counts(context.today):
                report(finding.message, None)

    return validate


def stack_callback(
    rule: StackRule, defaults: Mapping[str, Any], run: Run
) -> Callable[[StackValidationArgs, ReportViolation], None]:
    """The function that the SDK calls for a stack."""

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        context = run.context(defaults, args.get_config())
        for finding in findings(rule, from_analysis(args.resources), context, run.suppressions):
            if finding.counts(context.today):
                report(finding.message, finding.urn or None)

    return validate

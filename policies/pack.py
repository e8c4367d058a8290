"""The policies of the pack, built from the rules."""

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyComplianceFramework,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)

from policies.rule import AnyRule, ResourceRule, environment
from policies.rules import RULES
from policies.runner import Run, resource_callback, stack_callback
from policies.stack_file import StackFile
from policies.suppressions import FILE, LONGEST, Suppressions, load
from spec.clock import today

NAME: Final = "slipway"
EXPIRY: Final = "suppression-current"
REVIEW: Final = "suppression-review-due"
_FRAMEWORKS: Final = {"CKV": "Checkov", "AVD": "Trivy", "CIS": "CIS Amazon EKS Benchmark", "KSV": "Trivy"}


def identities() -> frozenset[str]:
    """Names that a suppression may use: rules, and checks as `rule/check`."""
    return frozenset(name for rule in RULES for name in (rule.name, *(f"{rule.name}/{key}" for key in rule.checks)))


def policies(
    stack: str, day: Callable[[], date] = today, stack_file: StackFile | None = None, file: Path = FILE
) -> list[Policy]:
    """The policies for a stack, with the levels and settings of its environment, and the suppressions of a file."""
    stage = environment(stack)
    suppressions = load(identities(), file)
    run = Run(suppressions=suppressions, today=day, stack_file=stack_file)
    rules = [policy(rule, stage, run) for rule in RULES]
    return [*rules, expiry(suppressions, day), review(suppressions, day)]


def expiry(suppressions: Suppressions, day: Callable[[], date] = today) -> Policy:
    """A policy without suppressions: it reports every suppression that has expired, or is valid for too long."""

    def validate(_: StackValidationArgs, report: ReportViolation) -> None:
        for suppression in suppressions.all:
            if suppression.expired(day()):
                report(
                    f"The suppression of {suppression.rule} for {suppression.urn} expired on {suppression.until}. "
                    f"{suppression.owner} must review and renew it in suppressions.yaml, or fix the "
                    "violation and remove the entry.",
                    None,
                )
            elif suppression.too_long(day()):
                report(
                    f"The suppression of {suppression.rule} for {suppression.urn} is until {suppression.until}. It "
                    f"must be at most {LONGEST.days} days; give it an earlier day in suppressions.yaml.",
                    None,
                )

    return StackValidationPolicy(
        name=EXPIRY,
        description="No suppression has expired, or is valid for more than a year",
        validate=validate,
        enforcement_level=EnforcementLevel.MANDATORY,
        severity=Severity.MEDIUM,
    )


def review(suppressions: Suppressions, day: Callable[[], date] = today) -> Policy:
    """A policy that announces every suppression that expires soon, so that its review precedes a failing run."""

    def validate(_: StackValidationArgs, report: ReportViolation) -> None:
        for suppression in suppressions.all:
            if suppression.due(day()):
                report(
                    f"The suppression of {suppression.rule} for {suppression.urn} expires on {suppression.until}. "
                    f"{suppression.owner} must review it in suppressions.yaml.",
                    None,
                )

    return StackValidationPolicy(
        name=REVIEW,
        description="No suppression expires within 30 days",
        validate=validate,
        enforcement_level=EnforcementLevel.ADVISORY,
        severity=Severity.LOW,
    )


def policy(rule: AnyRule, stage: str, run: Run) -> Policy:
    """The SDK's policy for a rule."""
    defaults = rule.defaults(stage)
    schema = {name: {**setting.schema, "default": defaults[name]} for name, setting in rule.settings.items()}
    common: dict[str, Any] = {
        "name": rule.name,
        "description": rule.title,
        "enforcement_level": rule.levels.of(stage),
        "config_schema": PolicyConfigSchema(schema) if schema else None,
        "severity": rule.severity,
        "framework": _framework(rule.external_ids),
        "tags": list(rule.external_ids),
        "remediation_steps": rule.fix,
    }
    if isinstance(rule, ResourceRule):
        return ResourceValidationPolicy(validate=resource_callback(rule, defaults, run), **common)
    return StackValidationPolicy(validate=stack_callback(rule, defaults, run), **common)


def _framework(external_ids: Sequence[str]) -> PolicyComplianceFramework | None:
    """The SDK supports one framework per policy: that of the first external check. All external check IDs are tags."""
    if not external_ids:
        return None
    prefix, _, _ = (
        external_ids[0].partition("_") if external_ids[0].startswith("CKV") else external_ids[0].partition("-")
    )
    return PolicyComplianceFramework(
        name=_FRAMEWORKS[prefix.rstrip("0123456789")], specification=", ".join(external_ids)
    )

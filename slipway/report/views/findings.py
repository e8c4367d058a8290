"""The policy findings on the program."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from policies.levels import environment
from policies.rules import BY_NAME
from policies.runner import Finding
from slipway.report.model import Evaluation, FindingView, SuppressedFinding

_LEVELS: Final = ("mandatory", "advisory")
_SEVERITIES: Final = ("critical", "high", "medium", "low")


def evaluation(findings: Sequence[Finding], stack: str, today: date) -> Evaluation:
    """Active findings, mandatory ones first, and suppressions in use."""
    stage = environment(stack)
    groups: dict[str, list[Finding]] = {}
    for one in findings:
        if one.counts(today):
            groups.setdefault(one.id, []).append(one)
    views = [_view(group, stage) for group in groups.values()]

    def rank(view: FindingView) -> tuple[int, int, str]:
        severity = _SEVERITIES.index(view.severity) if view.severity in _SEVERITIES else len(_SEVERITIES)
        return (_LEVELS.index(view.level), severity, view.rule)

    return Evaluation(
        rules=len(BY_NAME),
        findings=tuple(sorted(views, key=rank)),
        suppressions=_suppressions([one for one in findings if not one.counts(today)]),
        suppressed=sum(not one.counts(today) for one in findings),
    )


def _view(group: Sequence[Finding], stage: str) -> FindingView:
    first = group[0]
    rule = BY_NAME[first.rule]
    return FindingView(
        level=rule.levels.of(stage).value,
        severity=rule.severity.value,
        rule=first.id,
        title=rule.title,
        cases=tuple(sorted((_name(one), one.message.removeprefix(f"[{one.check}] ")) for one in group)),
        external_ids=rule.checks[first.check].external_ids,
    )


def _name(one: Finding) -> str:
    return one.urn.rpartition("::")[2] or "the stack"


def _suppressions(suppressed: Sequence[Finding]) -> tuple[SuppressedFinding, ...]:
    groups: dict[tuple[str, str, str, str], set[str]] = {}
    for one in suppressed:
        if one.suppression is not None:
            why = one.suppression
            key = (one.id, why.reason, why.owner, why.until.isoformat())
            groups.setdefault(key, set()).add(_name(one))
    return tuple(
        SuppressedFinding(rule=rule, reason=reason, owner=owner, until=until, resources=tuple(sorted(names)))
        for (rule, reason, owner, until), names in sorted(groups.items())
    )

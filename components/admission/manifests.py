"""The two Kubernetes objects of a rule: policy and binding."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from components.admission.context import StackContext
from components.admission.kinds import POD
from components.admission.rule import Kind, Rule, literal
from components.admission.templates import KIND, USER, changed
from spec.settings.admission import Action
from spec.teams.labels import TEAM

API: Final = "admissionregistration.k8s.io/v1"
DOMAIN: Final = "platform.slipway"
ACTIONS: Final = {
    Action.DENY: ["Deny"],
    # The user sees a warning; the audit log records it.
    Action.WARN: ["Warn", "Audit"],
    Action.AUDIT: ["Audit"],
}


def policy_name(rule: Rule) -> str:
    """Name of a rule's policy; an error message begins with it."""
    return f"{rule.name}.{DOMAIN}"


def policy(rule: Rule, context: StackContext) -> dict[str, Any]:
    """The ValidatingAdmissionPolicy of a rule."""
    operations = ["CREATE", "UPDATE"] if rule.updates else ["CREATE"]
    conditions = [{"name": "not-by-a-controller", "expression": _not_by_a_controller(rule, context)}]
    if rule.updates:
        conditions.append({"name": "spec-changed", "expression": changed(*rule.metadata)})
    return {
        "apiVersion": API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": policy_name(rule)},
        "spec": {
            # An error in the expression denies the request: a rule that can't be evaluated isn't satisfied.
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": _resource_rules(rule, operations)},
            "matchConditions": conditions,
            "variables": [{"name": name, "expression": text} for name, text in rule.variables.items()],
            "validations": [
                {
                    "expression": rule.expression,
                    # The fallback if the message expression fails.
                    "message": f"{rule.what}",
                    "messageExpression": rule.message.expression,
                    "reason": "Invalid",
                }
            ],
        },
    }


def binding(rule: Rule, action: Action) -> dict[str, Any]:
    """The ValidatingAdmissionPolicyBinding for team namespaces, with an action other than `off`."""
    return {
        "apiVersion": API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": policy_name(rule)},
        "spec": {
            "policyName": policy_name(rule),
            "validationActions": ACTIONS[action],
            "matchResources": {"namespaceSelector": {"matchExpressions": [{"key": TEAM, "operator": "Exists"}]}},
        },
    }


def _resource_rules(rule: Rule, operations: list[str]) -> list[dict[str, Any]]:
    """Kinds by group. For pods only creation: the fields that matter to the scheduler are immutable."""
    groups: dict[tuple[str, tuple[str, ...]], list[Kind]] = defaultdict(list)
    for kind in rule.kinds:
        groups[kind.group, ("CREATE",) if kind == POD and not rule.pod_updates else tuple(operations)].append(kind)
    return [
        {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": list(when),
            "resources": sorted(kind.resource for kind in kinds),
        }
        for (group, when), kinds in sorted(groups.items())
    ]


def _not_by_a_controller(rule: Rule, context: StackContext) -> str:
    """Whether someone else asks than a controller that the kind's parent, or an earlier check, vouches for.

    Pods are always checked: a runtime or a workflow is complete only in its pods.
    """
    kinds = {kind.kind for kind in rule.kinds} - {POD.kind}
    made = {kind: names for kind, names in context.makers.items() if kind in kinds}
    changed = {kind: names for kind, names in context.changers.items() if kind in kinds}
    makes = f"{KIND} in {literal(made)} && {USER} in {literal(made)}[{KIND}]"
    changes = f"request.operation == 'UPDATE' && {KIND} in {literal(changed)} && {USER} in {literal(changed)}[{KIND}]"
    found = [text for names, text in ((made, makes), (changed, changes)) if names]
    return " && ".join(f"!({text})" for text in found) or "true"

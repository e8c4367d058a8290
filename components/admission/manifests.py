"""A rule as the two objects of the API that hold it."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from components.admission.kinds import CHANGED, POD, UNOWNED
from components.admission.rule import Kind, Rule
from spec.settings.admission import Action
from spec.teams.labels import TEAM

API: Final = "admissionregistration.k8s.io/v1"
DOMAIN: Final = "platform.slipway"
ACTIONS: Final = {
    Action.DENY: ["Deny"],
    # Who applies it sees a warning once; the audit log keeps it.
    Action.WARN: ["Warn", "Audit"],
    Action.AUDIT: ["Audit"],
}


def policy_name(rule: Rule) -> str:
    """Name of a rule's policy, which a refusal begins with."""
    return f"{rule.name}.{DOMAIN}"


def policy(rule: Rule) -> dict[str, Any]:
    """The ValidatingAdmissionPolicy of a rule."""
    operations = ["CREATE", "UPDATE"] if rule.updates else ["CREATE"]
    conditions = [{"name": "not-made-by-a-controller", "expression": _unowned(rule)}]
    if rule.updates:
        conditions.append({"name": "spec-changed", "expression": CHANGED})
    return {
        "apiVersion": API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": policy_name(rule)},
        "spec": {
            # An expression that fails refuses: a rule that can't be judged is not held.
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": _resource_rules(rule, operations)},
            "matchConditions": conditions,
            "variables": [{"name": name, "expression": text} for name, text in rule.variables.items()],
            "validations": [
                {
                    "expression": rule.expression,
                    # Where the expression of the message fails, this one stands.
                    "message": f"{rule.what}",
                    "messageExpression": rule.message.expression,
                    "reason": "Invalid",
                }
            ],
        },
    }


def binding(rule: Rule, action: Action) -> dict[str, Any]:
    """The ValidatingAdmissionPolicyBinding: in the namespaces of teams, with an action that is not `off`."""
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
    """Kinds by group. Of pods creation alone: what the scheduler acts on is fixed by then."""
    found: dict[tuple[str, tuple[str, ...]], list[Kind]] = defaultdict(list)
    for kind in rule.kinds:
        found[kind.group, ("CREATE",) if kind == POD else tuple(operations)].append(kind)
    return [
        {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": list(when),
            "resources": sorted(kind.resource for kind in kinds),
        }
        for (group, when), kinds in sorted(found.items())
    ]


def _unowned(rule: Rule) -> str:
    return f"request.kind.kind == 'Pod' || {UNOWNED}" if POD in rule.kinds else UNOWNED

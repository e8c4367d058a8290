"""Admission policies of the cluster: that they exist, refuse, and cover the namespaces of teams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.access import Node, texts, unknowns
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import ADMISSION, ADMISSION_BINDING, ADMISSION_POLICY, NAMESPACE
from policies.rule import Check, Context, ResourceRule, StackRule, Violation, violation
from spec.teams.labels import TEAM

_CONSTANT: Final = re.compile(r"[\s(]*(!?\s*(true|false)|1\s*==\s*1|1\s*[!=]=\s*0)[\s)]*")
_TRUE: Final = frozenset({"true", "!false", "1==1", "1!=0"})


def _ignored_errors(policy: Resource, _: Context) -> Iterator[Violation]:
    """The default is Fail (Kubernetes API 1.36, ValidatingAdmissionPolicySpec)."""
    node = policy["spec"]["failurePolicy"]
    if node.known and node.raw != "Fail":
        yield violation(node)


def _empty(policy: Resource, _: Context) -> Iterator[Violation]:
    """Validations that always hold, and conditions that never do: the rule then refuses nothing."""
    spec = policy["spec"]
    if not spec["validations"].unknown and not spec["validations"].items():
        yield violation(spec["validations"], "empty")
    for one in spec["validations"].items():
        if one.known and _value(one["expression"]) is True:
            yield violation(one["expression"])
    for one in spec["matchConditions"].items():
        if one.known and _value(one["expression"]) is False:
            yield violation(one["expression"])


def _value(expression: Node) -> bool | None:
    """The value of a constant expression; None if it is none."""
    text = str(expression.raw)
    return re.sub(r"[\s()]", "", text) in _TRUE if _CONSTANT.fullmatch(text) else None


POLICY_REFUSES = ResourceRule(
    name="admission-policy-refuses",
    title="Admission policies refuse what they can't evaluate, and have conditions that can fail",
    types=(ADMISSION_POLICY,),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="A policy that ignores its errors, or whose expression is constant, admits everything and looks like a rule.",
    fix="Use failurePolicy Fail and the rule's expression (components/admission).",
    checks={
        "errors": Check(asks="must be Fail", find=_ignored_errors),
        "constant": Check(asks="must be able to fail", find=_empty),
    },
    program_only=True,
)


def _rules(stack: Stack) -> Iterator[tuple[Resource, str, Node]]:
    """Names of the rules that the component declares, with their actions."""
    for component in stack.of(ADMISSION):
        for name, actions in component["rules"].fields().items():
            yield component, name, actions


def _named(stack: Stack, kind: str, name: str, *path: str) -> list[Resource]:
    return [one for one in stack.of(kind) if one.props.at(*path).raw == name or one.props.at(*path).unknown]


def _missing(stack: Stack, _: Context) -> Iterator[Violation]:
    for component, name, _actions in _rules(stack):
        if not _named(stack, ADMISSION_POLICY, name, "metadata", "name"):
            yield Violation(path="", got=f"without the policy {name}", at=component)
        if not _named(stack, ADMISSION_BINDING, name, "spec", "policyName"):
            yield Violation(path="", got=f"without a binding of {name}", at=component)


def _other_action(stack: Stack, _: Context) -> Iterator[Violation]:
    for _component, name, actions in _rules(stack):
        for one in _named(stack, ADMISSION_BINDING, name, "spec", "policyName"):
            got = one["spec"]["validationActions"]
            listed = got.items()
            if not (got.unknown or unknowns(listed)) and texts(actions.items()) - texts(listed):
                yield violation(got, at=one)


def _uncovered(stack: Stack, _: Context) -> Iterator[Violation]:
    spaces = [one["metadata"]["labels"] for one in stack.of(NAMESPACE)]
    teams = [labels for labels in spaces if labels[TEAM].known]
    for one in stack.of(ADMISSION_BINDING):
        match = one["spec"]["matchResources"]
        if match.unknown:
            continue
        if any(not _matches(match["namespaceSelector"], labels) for labels in teams):
            yield violation(match["namespaceSelector"], "not matching every namespace of a team", one)
        for key in ("objectSelector", "excludeResourceRules", "resourceRules"):
            if match[key].known and match[key].raw not in ({}, []):
                yield violation(match[key], at=one)


def _matches(selector: Node, labels: Node) -> bool:
    """Whether a label selector may match: what is unknown may (Kubernetes API 1.36, LabelSelector)."""
    wanted = selector["matchLabels"].fields()
    if any(value.known and not labels[key].unknown and labels[key].raw != value.raw for key, value in wanted.items()):
        return False
    return all(one.unknown or _holds(one, labels) for one in selector["matchExpressions"].items())


def _holds(term: Node, labels: Node) -> bool:
    value: Any = labels[str(term["key"].raw)]
    listed = term["values"].items()
    if value.unknown or term["key"].unknown or term["values"].unknown or unknowns(listed):
        return True
    values = [one.raw for one in listed]
    outcomes = {
        "Exists": value.known,
        "DoesNotExist": not value.known,
        "In": value.known and value.raw in values,
        "NotIn": not value.known or value.raw not in values,
    }
    return bool(outcomes.get(str(term["operator"].raw), True))


POLICIES_BOUND = StackRule(
    name="admission-policies-bound",
    title="Every admission rule of the stack file is installed, and refuses in every namespace of a team",
    types=(ADMISSION, ADMISSION_POLICY, ADMISSION_BINDING, NAMESPACE),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="The rules are the only border between a team's edit role and the nodes, queues and quotas of others.",
    fix="Leave policies and bindings as components/admission declares them; set a rule's action in the stack file.",
    checks={
        "installed": Check(asks="must have its policy and binding", find=_missing),
        "action": Check(asks="must have the action of the stack file", find=_other_action),
        "namespaces": Check(asks="must be for all objects in namespaces of teams", find=_uncovered),
    },
)

RULES = (POLICY_REFUSES, POLICIES_BOUND)

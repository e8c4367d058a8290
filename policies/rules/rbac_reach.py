"""RBAC: whom a binding reaches, and roles that change the rules that bind teams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.access import texts
from policies.resources.resource import Resource
from policies.resources.tokens import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, NAMESPACE_ROLE, ROLE_BINDING
from policies.rule import Check, Context, ResourceRule, Violation, violation

_GUARDS: Final = (
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
)
_CHANGES: Final = ("create", "update", "patch", "delete", "deletecollection")
_AGGREGATES: Final = "rbac.authorization.k8s.io/aggregate-to-"
_KNOWN: Final = ("system:masters", "system:anonymous", "system:unauthenticated")
"""Reported by rbac-least."""
_WIDE: Final = ("admin", "edit")
"""Roles of Kubernetes for one namespace: in all namespaces they read every Secret."""


def _unguarded(role: Resource, _: Context) -> Iterator[Violation]:
    for rule in role["rules"].items() if role.type in (CLUSTER_ROLE, NAMESPACE_ROLE) else ():
        changes = sorted(texts(rule["verbs"].items()).intersection(_CHANGES))
        guards = sorted(texts(rule["resources"].items()).intersection(_GUARDS))
        if changes and guards:
            yield violation(rule["resources"], f"granting {', '.join(changes)} on {', '.join(guards)}")


def _aggregates(role: Resource, _: Context) -> Iterator[Violation]:
    if role.type != CLUSTER_ROLE:
        return
    if not role["aggregationRule"].missing:
        yield violation(role["aggregationRule"], "a selector of the rules of other roles")
    for key, value in role["metadata"]["labels"].fields().items():
        if key.startswith(_AGGREGATES) and value.raw == "true":
            yield violation(value, f"added to the role {key.removeprefix(_AGGREGATES)}")


def _everybody(binding: Resource, _: Context) -> Iterator[Violation]:
    for subject in binding["subjects"].items() if binding.type in (CLUSTER_ROLE_BINDING, ROLE_BINDING) else ():
        name = subject["name"].text() or ""
        if subject["kind"].is_not("ServiceAccount") and name.startswith("system:") and name not in _KNOWN:
            yield violation(subject["name"])


def _everywhere(binding: Resource, _: Context) -> Iterator[Violation]:
    if binding.type == CLUSTER_ROLE_BINDING and binding["roleRef"]["name"].raw in _WIDE:
        yield violation(binding["roleRef"]["name"], f"{binding['roleRef']['name'].shown} in all namespaces")


RBAC_REACH = ResourceRule(
    name="rbac-reach",
    title="RBAC bindings name their subjects, and nobody changes the rules that bind teams",
    types=(CLUSTER_ROLE, NAMESPACE_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="Whoever changes an admission policy switches it off. An aggregated role has the rules of every role with its "
    "label, also of later ones, and `system:authenticated` is every identity of the cluster.",
    fix="Name groups of the stack's teams, and list the rules of a role in the role.",
    checks={
        "admission": Check(asks="must not allow changing admission rules", find=_unguarded),
        "aggregation": Check(asks="must not be aggregated", find=_aggregates),
        "everybody": Check(asks="must not be an identity of the system", find=_everybody),
        "everywhere": Check(asks="must be bound in a namespace", find=_everywhere),
    },
    program_only=True,
)

RULES = (RBAC_REACH,)

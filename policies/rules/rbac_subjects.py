"""RBAC: bindings that give one team's namespace, or the system's, to somebody else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.access import texts
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import CLUSTER_ROLE, NAMESPACE, NAMESPACE_ROLE, ROLE_BINDING
from policies.rule import Check, Context, ResourceRule, StackRule, Violation, violation
from spec.teams.labels import TEAM

_GROUP: Final = re.compile(r"slipway:([^:]+):[a-z]+")
_SYSTEM: Final = ("kube-system", "kube-public", "kube-node-lease")
_WIDE: Final = ("admin", "edit", "cluster-admin")
_PODS: Final = frozenset({"pods/ephemeralcontainers"})
_CHANGES: Final = ("update", "patch", "*")


def _person_in_system(binding: Resource, _: Context) -> Iterator[Violation]:
    if binding.type != ROLE_BINDING or binding["metadata"]["namespace"].raw not in _SYSTEM:
        return
    for subject in binding["subjects"].items() if binding["roleRef"]["name"].raw in _WIDE else ():
        if subject["kind"].raw in ("User", "Group"):
            yield violation(subject["name"])


def _takes_over(role: Resource, _: Context) -> Iterator[Violation]:
    """A debugging container runs with the pod's service account; a label of a namespace sets its Pod Security level and
    its team."""
    for rule in role["rules"].items() if role.type in (CLUSTER_ROLE, NAMESPACE_ROLE) else ():
        verbs, on = texts(rule["verbs"].items()), texts(rule["resources"].items())
        hit = sorted(on & (_PODS | {"namespaces"}))
        if hit and verbs.intersection(_CHANGES):
            yield violation(rule["resources"], f"granting {', '.join(sorted(verbs))} on {', '.join(hit)}")


SUBJECTS_APART = ResourceRule(
    name="rbac-takeover",
    title="Nobody edits the system's namespaces, other pods or the labels of namespaces by RBAC",
    types=(CLUSTER_ROLE, NAMESPACE_ROLE, ROLE_BINDING),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="The service accounts of kube-system have the permissions of the controllers. A debugging container has those "
    "of its pod, and whoever labels a namespace lowers its Pod Security level.",
    fix="Give people access by cluster.access, and name the resources of a role without these.",
    checks={
        "system": Check(asks="must not be a person or group", find=_person_in_system),
        "resources": Check(asks="must not allow changing these", find=_takes_over),
    },
    program_only=True,
)


def _other_team(stack: Stack, _: Context) -> Iterator[Violation]:
    teams = {
        str(space["metadata"]["name"].raw): space["metadata"]["labels"][TEAM].raw
        for space in stack.of(NAMESPACE)
        if space["metadata"]["labels"][TEAM].known
    }
    for binding in stack.of(ROLE_BINDING):
        team = teams.get(str(binding["metadata"]["namespace"].raw))
        for subject in binding["subjects"].items() if team else ():
            group = _GROUP.fullmatch(str(subject["name"].raw))
            if group and group[1] != team:
                yield violation(subject["name"], at=binding)


TEAMS_APART = StackRule(
    name="rbac-team-own",
    title="Groups of a team are bound in the team's own namespaces",
    types=(ROLE_BINDING, NAMESPACE),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="Secrets, data and quota of a namespace belong to its team.",
    fix="Add people to the team in teams.<name>.members, or share data by the claim datasets.",
    checks={"group": Check(asks="must be a group of the namespace's team", find=_other_team)},
)

RULES = (SUBJECTS_APART, TEAMS_APART)

"""RBAC: what roles of the program may allow, which roles a binding may name, and whom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from policies.checks.grants import READS, SYSTEM, Grant, grants, harmless, listed_by_place
from policies.checks.sameness import may_be_given
from policies.resources import tokens
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.rule import Context, ResourceRule, StackRule, Violation, violation

if TYPE_CHECKING:
    from infra.boundaries import Boundaries

_ROLES: Final = (tokens.CLUSTER_ROLE, tokens.NAMESPACE_ROLE)
_BINDINGS: Final = (tokens.CLUSTER_ROLE_BINDING, tokens.ROLE_BINDING)
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
"""A name that Kubernetes and EKS give to none of their objects: theirs have a colon, or are in `_BUILT_IN`."""
_BUILT_IN: Final = frozenset({"admin", "cluster-admin", "edit", "view"})
_READER: Final = "view"
"""The only role of Kubernetes that may be bound: it reads what is no Secret (kubernetes.io, "Using RBAC Authorization",
user-facing roles)."""
_LABELS: Final = "rbac.authorization.k8s.io/"
_TO_READERS: Final = f"{_LABELS}aggregate-to-{_READER}"
_SECRETS: Final = frozenset(
    {"Opaque", "kubernetes.io/basic-auth", "kubernetes.io/dockerconfigjson", "kubernetes.io/tls"}
)


def _beyond(role: Resource, context: Context) -> Iterator[Violation]:
    """A role that the stack file gives was reviewed with the platform; one that reads Secrets is named even so."""
    if role.type not in _ROLES:
        return
    given = may_be_given(context.boundaries, role)
    place = role["metadata"]["namespace"]
    space = None if role.type == tokens.CLUSTER_ROLE else place.text() or "default"
    for rule in role["rules"].items():
        found = [one for one in grants(rule) if (_reads_secrets(one) if given else not harmless(one, space))]
        if found:
            yield violation(rule, f"granting {listed_by_place(found)}")


def _reads_secrets(grant: Grant) -> bool:
    return grant.verb in READS and (grant.group, grant.target) == ("", "secrets")


def _collects(role: Resource, _: Context) -> Iterator[Violation]:
    """An aggregated role has the rules of every role with a label, also of later ones."""
    if role.type != tokens.CLUSTER_ROLE:
        return
    if not role["aggregationRule"].missing:
        yield violation(role["aggregationRule"], "a selector of the rules of other roles")
    for key, value in role["metadata"]["labels"].fields().items():
        if key.startswith(_LABELS) and key != _TO_READERS and value.is_not("false"):
            yield violation(value, f"added to other roles by {key}")


def _of_the_system(one: Resource, _: Context) -> Iterator[Violation]:
    name = one["metadata"]["name"]
    text = name.text() if one.type in (*_ROLES, *_BINDINGS) else None
    if text is not None and (text in _BUILT_IN or not _NAME.fullmatch(text)):
        yield violation(name)


def _token(secret: Resource, _: Context) -> Iterator[Violation]:
    """Kubernetes fills a Secret of type service-account-token with a token of the account that an annotation names."""
    if secret.type == tokens.SECRET and (kind := secret["type"]).known and str(kind.raw) not in _SECRETS:
        yield violation(kind)


ROLES_ALLOW = ResourceRule(
    name="rbac-roles-allow",
    types=(*_ROLES, *_BINDINGS, tokens.SECRET),
    finds={
        "grants": _beyond,
        "aggregation": _collects,
        "name": _of_the_system,
        "token": _token,
    },
    shown={"types": ", ".join(sorted(_SECRETS))},
)


@dataclass(frozen=True)
class _Declared:
    """What the program declares, for bindings."""

    accounts: frozenset[tuple[str, str]]  # namespace and name of service accounts
    roles: frozenset[tuple[str, str]]
    """Namespace (empty for ClusterRoles) and name of roles that the stack file does not give."""
    hidden: frozenset[str]  # types of which a name is unknown

    @classmethod
    def by(cls, stack: Stack, known: Boundaries | None) -> _Declared:
        """Those of a program."""
        found = stack.of(tokens.SERVICE_ACCOUNT, *_ROLES)
        named = {one: (one["metadata"]["namespace"], one["metadata"]["name"]) for one in found}
        keys = {one: (place.text() or "", name.text() or "") for one, (place, name) in named.items()}
        return cls(
            accounts=frozenset(key for one, key in keys.items() if one.type == tokens.SERVICE_ACCOUNT),
            roles=frozenset(key for one, key in keys.items() if one.type in _ROLES and not may_be_given(known, one)),
            hidden=frozenset(one.type for one, parts in named.items() if any(part.unknown for part in parts)),
        )


def _bindings(stack: Stack, known: Boundaries | None) -> Iterator[tuple[Resource, Node]]:
    """Bindings that the stack file does not give, with their namespace."""
    for binding in stack.of(*_BINDINGS):
        if not may_be_given(known, binding):
            yield binding, binding["metadata"]["namespace"]


def _other_role(stack: Stack, context: Context) -> Iterator[Violation]:
    known = context.boundaries
    declared = _Declared.by(stack, known)
    for binding, place in _bindings(stack, known):
        kind, name = binding["roleRef"]["kind"], binding["roleRef"]["name"]
        if any(one.unknown for one in (kind, name, place)) or not declared.hidden.isdisjoint(_ROLES):
            continue
        of_cluster = kind.raw == "ClusterRole"
        space = "" if of_cluster else place.text() or ""
        if (space, str(name.raw)) not in declared.roles and not (of_cluster and name.raw == _READER):
            yield violation(name, at=binding)


def _other_subject(stack: Stack, context: Context) -> Iterator[Violation]:
    known = context.boundaries
    declared = _Declared.by(stack, known)
    for binding, place in _bindings(stack, known):
        everywhere = binding.type == tokens.CLUSTER_ROLE_BINDING
        for subject in binding["subjects"].items():
            if any(one.unknown for one in (place, subject["kind"], subject["name"], subject["namespace"])):
                continue
            space = "" if everywhere else place.text() or ""
            kind = subject["kind"].raw
            allowed = (kind == "ServiceAccount" and _account(subject, space, declared, known)) or (
                kind == "Group" and _group(str(subject["name"].raw), space, known)
            )
            if not allowed:
                where = "in all namespaces" if everywhere else f"in namespace {space}"
                yield violation(subject["name"], f"the {kind} {subject['name'].raw} {where}", binding)


def _account(subject: Node, space: str, declared: _Declared, known: Boundaries | None) -> bool:
    """A service account of the program or of an add-on; one of a team, whose members start pods with it, only in
    namespaces of the team. Every pod that names no account has the one called default."""
    name, home = str(subject["name"].raw), subject["namespace"].text() or space
    teams = known.teams if known else {}
    if name == "default" or (home in teams and teams.get(space) != teams[home]):
        return False
    given = known is not None and (
        home in known.addons - SYSTEM or (tokens.SERVICE_ACCOUNT, home, name) in known.objects
    )
    return given or (home, name) in declared.accounts or tokens.SERVICE_ACCOUNT in declared.hidden


def _group(name: str, space: str, known: Boundaries | None) -> bool:
    """A group that an access entry of the stack file gives: one of a team in the team's namespaces."""
    if known is None or name not in known.groups:
        return False
    team = known.groups[name]
    return not team or known.teams.get(space) == team


BINDINGS_LISTED = StackRule(
    name="rbac-bindings-listed",
    types=(*_BINDINGS, *_ROLES, tokens.SERVICE_ACCOUNT),
    finds={
        "role": _other_role,
        "subject": _other_subject,
    },
    shown={"reader": _READER},
)

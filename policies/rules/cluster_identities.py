"""Identities of the cluster: issuers that IAM trusts, roles of pods, principals with access entries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.checks.people import listed_principals
from policies.evaluation.conditions import constraints
from policies.evaluation.documents import statements
from policies.levels import Levels
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import ACCESS_ENTRY, ENTRIES, OIDC_PROVIDER, POD_IDENTITY, ROLE, SERVICE_ACCOUNT
from policies.rule import Check, Context, ResourceRule, Setting, StackRule, Violation, everywhere, violation

_EKS: Final = re.compile(r"https://oidc\.eks(-fips)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/id/[0-9A-F]+")
"""The issuer of an EKS cluster (EKS User Guide, "Create an IAM OIDC provider for your cluster"; read 2026-11)."""
_ROLE_OF_ACCOUNT: Final = "eks.amazonaws.com/role-arn"


def _issuer(provider: Resource, context: Context) -> Iterator[Violation]:
    url = provider["url"]
    if provider.type == OIDC_PROVIDER and url.known:
        text = str(url.raw)
        if not _EKS.fullmatch(text) and text not in context.settings["issuers"]:
            yield violation(url)


def _by_annotation(account: Resource, _: Context) -> Iterator[Violation]:
    if account.type == SERVICE_ACCOUNT and (role := account["metadata"]["annotations"][_ROLE_OF_ACCOUNT]).known:
        yield violation(role)


ISSUERS_KNOWN = ResourceRule(
    name="identity-issuers-known",
    title="IAM trusts the cluster's issuer, and pods get roles by EKS Pod Identity",
    types=(OIDC_PROVIDER, SERVICE_ACCOUNT),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="Whoever signs tokens for an issuer that the account trusts assumes every role that trusts it. An association "
    "of Pod Identity is a resource of AWS that needs its permissions; an annotation needs only an edit in the cluster.",
    fix="Use the issuer of the cluster, and an EKS Pod Identity association.",
    settings={
        "issuers": Setting(
            asks="URLs of further issuers",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere([]),
        )
    },
    checks={
        "issuer": Check(asks="must be the issuer of an EKS cluster", find=_issuer),
        "annotation": Check(asks="must not be set: use EKS Pod Identity", find=_by_annotation),
    },
    program_only=True,
)


def _trusts(role: Resource, tag: str) -> set[str]:
    """Values of a session tag that the role's trust policy requires."""
    return {
        str(value.raw)
        for statement in statements(role["assumeRolePolicy"])
        if statement.allows
        for key, values in constraints(statement)
        if key == f"aws:requesttag/{tag}"
        for value in values
    }


def _strange_role(stack: Stack, _: Context) -> Iterator[Violation]:
    for association in stack.of(POD_IDENTITY):
        target, place = association["targetRoleArn"], association["namespace"]
        if target.known:
            yield violation(target, at=association)
        roles = association.source("roleArn", ROLE)
        if not roles and association["roleArn"].known:
            yield violation(association["roleArn"], "no role of the stack", association)
        for role in roles:
            trusted = _trusts(role, "kubernetes-namespace")
            if place.text() is not None and role["assumeRolePolicy"].known and place.text() not in trusted:
                yield violation(place, f"{place.shown}, which {role.name} does not trust", association)


POD_ROLES_OWN = StackRule(
    name="pod-roles-own",
    title="Pods get roles that the stack declares for them",
    types=(POD_IDENTITY, ROLE),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="An association gives every pod with the service account the role's permissions; one of a role that another "
    "program declares, or that is chained to one in another account, shows no permissions in this review.",
    fix="Declare the role with components.base.iam.pod_identity_role, for the namespace and the service account.",
    checks={"role": Check(asks="must be a role of the stack for this service account", find=_strange_role)},
)


def _unlisted(stack: Stack, _: Context) -> Iterator[Violation]:
    """Entries of nodes and of teams are not in cluster.access: nodes have no groups, teams their own."""
    known = listed_principals(stack)
    teams = [entry for entry in stack.of(ACCESS_ENTRY) if ":slipway:tenancy:Team$" in f":{entry.urn}"]
    if known is None:
        return
    for entry in stack.of(ACCESS_ENTRY):
        principal = entry["principalArn"].text()
        people = entry["type"].missing or entry["type"].raw == "STANDARD"
        if people and principal is not None and principal not in known and entry not in teams:
            yield violation(entry["principalArn"], at=entry)


ENTRIES_LISTED = StackRule(
    name="access-entries-in-stack-file",
    title="The stack file names everyone who has an access entry",
    types=(ACCESS_ENTRY, ENTRIES),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="An entry with the group of a team, or of a binding that already exists, gives its permissions without an "
    "access policy; reviewers look for access in the stack file.",
    fix="Declare the access in cluster.access or teams.<name>.members of the stack file.",
    checks={"listed": Check(asks="must be in cluster.access or in a team of the stack file", find=_unlisted)},
)

RULES = (ISSUERS_KNOWN, POD_ROLES_OWN, ENTRIES_LISTED)

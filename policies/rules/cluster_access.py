"""Who reaches the API server: endpoints, access entries, and identities of pods and nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from policies.checks.grants import SYSTEM
from policies.checks.questions import false, is_in, true, unless_set
from policies.evaluation.iam import Statement, constraints, statements
from policies.evaluation.ranges import internet
from policies.resources import tokens
from policies.resources.resource import Resource, Stack
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation
from spec.teams.labels import ADMISSION

if TYPE_CHECKING:
    from infra.boundaries import Entry

_PERSON: Final = "STANDARD"


def _public(cluster: Resource) -> bool:
    """EKS makes the endpoint public by default (eks:CreateCluster, endpointPublicAccess)."""
    return cluster["vpcConfig"]["endpointPublicAccess"].is_true(default=True)


def _no_networks(cluster: Resource, _: Context) -> Iterator[Violation]:
    cidrs = cluster["vpcConfig"]["publicAccessCidrs"]
    if _public(cluster) and (cidrs.missing or (cidrs.known and not cidrs.items())):
        yield violation(cidrs)


def _whole_internet(cluster: Resource, _: Context) -> Iterator[Violation]:
    if _public(cluster):
        yield from (violation(cidr) for cidr in internet(cluster["vpcConfig"]["publicAccessCidrs"].items()))


NO_WORLD_ENDPOINT = ResourceRule(
    name="eks-no-world-endpoint",
    types=(tokens.CLUSTER,),
    finds={
        "ranges": _no_networks,
        "anywhere": _whole_internet,
    },
)


PRIVATE_ENDPOINT = ResourceRule(
    name="eks-private-endpoint",
    types=(tokens.CLUSTER,),
    settings={"allowPublic": setting("whether the endpoint may also be public", True, False, False)},
    finds={
        "private": true("vpcConfig.endpointPrivateAccess"),
        "public": unless_set("allowPublic", false("vpcConfig.endpointPublicAccess", default=True)),
    },
)


def _masters(entry: Resource, _: Context) -> Iterator[Violation]:
    if entry.type == tokens.ACCESS_ENTRY:
        yield from (violation(group) for group in entry["kubernetesGroups"].items() if group.raw == "system:masters")


def _system_user(entry: Resource, _: Context) -> Iterator[Violation]:
    """EKS makes the user name from the principal unless the entry has one (eks:CreateAccessEntry, username)."""
    if entry.type == tokens.ACCESS_ENTRY and str(entry["userName"].raw).startswith("system:"):
        yield violation(entry["userName"])


def _system_map(config: Resource, _: Context) -> Iterator[Violation]:
    """EKS reads aws-auth, the API server extension-apiserver-authentication: the cluster trusts whom they name.
    `boundaries-as-given` compares the parameters of admission rules with the stack file."""
    metadata = config["metadata"]
    if (
        config.type == tokens.CONFIG_MAP
        and metadata["name"].is_not(ADMISSION)
        and str(metadata["namespace"].raw) in SYSTEM
    ):
        yield violation(metadata["namespace"])


ACCESS_ENTRIES_ONLY = ResourceRule(
    name="eks-access-entries-only",
    types=(tokens.CLUSTER, tokens.ACCESS_ENTRY, tokens.CONFIG_MAP),
    finds={
        "mode": is_in("accessConfig.authenticationMode", "API", types=(tokens.CLUSTER,)),
        # EKS makes the creator an administrator by default (eks:CreateCluster, accessConfig).
        "creator": false("accessConfig.bootstrapClusterCreatorAdminPermissions", tokens.CLUSTER, default=True),
        "masters": _masters,
        "user": _system_user,
        "aws-auth": _system_map,
    },
)


def _strange(entry: Resource, context: Context) -> Iterator[Violation]:
    known, principal = context.boundaries, entry["principalArn"]
    if known is not None and principal.known and not _of_nodes(entry) and str(principal.raw) not in known.entries:
        yield violation(principal)


def _of_nodes(entry: Resource) -> bool:
    """An entry of nodes has a type of its own and no groups or policies (eks:CreateAccessEntry, type); the rule
    access-entries-of-nodes judges it."""
    kind = entry["type"]
    return entry.type == tokens.ACCESS_ENTRY and (kind.unknown or (kind.known and kind.raw != _PERSON))


def _more_groups(entry: Resource, context: Context) -> Iterator[Violation]:
    given = _given(entry, context, tokens.ACCESS_ENTRY)
    for group in entry["kubernetesGroups"].items():
        if given and group.known and str(group.raw) not in given.groups:
            yield violation(group)


def _more_permissions(association: Resource, context: Context) -> Iterator[Violation]:
    """A policy without a scope of namespaces is for the whole cluster (eks:AssociateAccessPolicy, accessScope)."""
    given = _given(association, context, tokens.ACCESS_POLICY)
    if given is None:
        return
    policy, scope = association["policyArn"], association["accessScope"]
    if policy.known and str(policy.raw).rpartition("/")[2] != given.policy:
        yield violation(policy)
    spaces = scope["namespaces"]
    if given.namespaces and scope["type"].is_not("namespace"):
        yield violation(scope["type"])
    yield from (violation(one) for one in spaces.items() if one.known and str(one.raw) not in given.namespaces)


def _given(one: Resource, context: Context, kind: str) -> Entry | None:
    principal = one["principalArn"]
    known = context.boundaries if one.type == kind and principal.known else None
    return known.entries.get(str(principal.raw)) if known else None


IN_STACK_FILE = ResourceRule(
    name="eks-access-in-stack-file",
    types=(tokens.ACCESS_ENTRY, tokens.ACCESS_POLICY),
    finds={
        "listed": _strange,
        "groups": _more_groups,
        "policy": _more_permissions,
    },
)


_EKS: Final = re.compile(r"https://oidc\.eks(-fips)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/id/[0-9A-F]+")
"""The issuer of an EKS cluster (EKS User Guide, "Create an IAM OIDC provider for your cluster"; read 2026-11)."""
_EC2: Final = re.compile(r"ec2\.amazonaws\.com(\.cn)?")
_ROLE_OF_ACCOUNT: Final = "eks.amazonaws.com/role-arn"


def _issuer(provider: Resource, context: Context) -> Iterator[Violation]:
    url = provider["url"]
    if provider.type == tokens.OIDC_PROVIDER and url.known:
        text = str(url.raw)
        if not _EKS.fullmatch(text) and text not in context.settings["issuers"]:
            yield violation(url)


def _by_annotation(account: Resource, _: Context) -> Iterator[Violation]:
    if account.type == tokens.SERVICE_ACCOUNT and (role := account["metadata"]["annotations"][_ROLE_OF_ACCOUNT]).known:
        yield violation(role)


ISSUERS_KNOWN = ResourceRule(
    name="identity-issuers-known",
    types=(tokens.OIDC_PROVIDER, tokens.SERVICE_ACCOUNT),
    settings={"issuers": setting("URLs of further issuers", [])},
    finds={
        "issuer": _issuer,
        "annotation": _by_annotation,
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


def _roles_in(one: Resource, key: str) -> list[Resource]:
    """The roles whose ARN a property is. `role.arn.apply(lambda _: ...)` depends on a role and names another."""
    text = one[key]
    roles = one.source(key, tokens.ROLE)
    return [role for role in roles if not text.known or not role["arn"].known or text.raw == role["arn"].raw]


def _strange_role(stack: Stack, _: Context) -> Iterator[Violation]:
    for association in stack.of(tokens.POD_IDENTITY):
        target, place = association["targetRoleArn"], association["namespace"]
        if target.known:
            yield violation(target, at=association)
        roles = _roles_in(association, "roleArn")
        if not roles and association["roleArn"].known:
            yield violation(association["roleArn"], "no role of the stack", association)
        for role in roles:
            trusted = _trusts(role, "kubernetes-namespace")
            if place.text() is not None and role["assumeRolePolicy"].known and place.text() not in trusted:
                yield violation(place, f"{place.shown}, which {role.name} does not trust", association)


POD_ROLES_OWN = StackRule(
    name="pod-roles-own",
    types=(tokens.POD_IDENTITY, tokens.ROLE),
    finds={"role": _strange_role},
)


def _no_role_of_nodes(stack: Stack, _: Context) -> Iterator[Violation]:
    """Whoever assumes the role of such an entry is a node of the cluster, and reads the Secrets of its pods."""
    for entry in stack.of(tokens.ACCESS_ENTRY):
        if entry["type"].is_not("STANDARD") and not entry["type"].missing:
            roles = _roles_in(entry, "principalArn")
            if not roles and entry["principalArn"].known:
                yield violation(entry["principalArn"], "no role of the stack", entry)
            for role in roles:
                for statement in statements(role["assumeRolePolicy"]):
                    if statement.allows and not _ec2_alone(statement):
                        yield violation(entry["principalArn"], f"{role.name}, which others than EC2 assume", entry)


def _ec2_alone(statement: Statement) -> bool:
    services = statement.principals("Service")
    others = [who for kind in ("AWS", "Federated", "CanonicalUser") for who in statement.principals(kind)]
    inverted = not statement.node["NotPrincipal"].missing
    return not others and not inverted and all(who.unknown or _EC2.fullmatch(str(who.raw)) for who in services)


NODE_ENTRIES = StackRule(
    name="access-entries-of-nodes",
    types=(tokens.ACCESS_ENTRY, tokens.ROLE),
    finds={"role": _no_role_of_nodes},
)

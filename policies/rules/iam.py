"""IAM: what roles may do, and who may assume them."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from policies.evaluation.iam import (
    CREDENTIALS,
    ESCALATION,
    EXFILTRATION,
    PERMISSIONS,
    RESTRICTABLE,
    Statement,
    among,
    constraints,
    limits_the_resource,
    listed,
    narrow,
    reads,
    statements,
    undecided,
)
from policies.resources import tokens
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.rule import Context, ResourceRule, Violation, setting, violation

_DOCUMENTS: Final = (tokens.ROLE_POLICY, tokens.POLICY, tokens.GROUP_POLICY, tokens.USER_POLICY, tokens.ROLE)
_ATTACHMENTS: Final = (tokens.ROLE_ATTACHMENT, tokens.POLICY_ATTACHMENT, tokens.USER_ATTACHMENT)
_USERS: Final = (tokens.USER, tokens.ACCESS_KEY, tokens.USER_POLICY, tokens.USER_ATTACHMENT)
_MANAGED: Final = [
    "AmazonEBSCSIDriverEKSClusterScopedPolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonEKSClusterPolicy",
    "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEKSVPCResourceController",
    "AmazonSSMManagedInstanceCore", "service-role/AmazonEFSCSIDriverPolicy",
    "service-role/AmazonRDSEnhancedMonitoringRole",
]  # fmt: skip
"""Policies of AWS that the program attaches; what they allow was read (2026-11)."""
_OF_AWS: Final = ":iam::aws:policy/"


def _documents(resource: Resource) -> list[Node]:
    if resource.type == tokens.ROLE:
        return [policy["policy"] for policy in resource["inlinePolicies"].items()]
    return [resource["policy"]] if resource.type in _DOCUMENTS else []


def _allowing(resource: Resource) -> Iterator[tuple[Node, Statement]]:
    for document in _documents(resource):
        yield from ((document, statement) for statement in statements(document) if statement.allows)


def _all_actions(resource: Resource, _: Context) -> Iterator[Violation]:
    for document, statement in _allowing(resource):
        if statement.inverted or any(action.strip("*?:") == "" for action in statement.actions):
            yield violation(document, "allowing all actions, or all but some")
        elif "iam:*" in statement.actions:
            yield violation(document, "allowing all actions of IAM")


def _all_of_s3(resource: Resource, _: Context) -> Iterator[Violation]:
    for document, statement in _allowing(resource):
        if "s3:*" in statement.actions and statement.everywhere:
            yield violation(document, "allowing s3:* on every bucket")


def _unread(resource: Resource, context: Context) -> Iterator[Violation]:
    """A list of administrator policies would miss those that allow nearly as much: SecretsManagerReadWrite, job
    functions, and whatever AWS publishes next."""
    if resource.type in _ATTACHMENTS:
        arns = [resource["policyArn"]]
    else:
        arns = resource["managedPolicyArns"].items() if resource.type == tokens.ROLE else []
    for arn in arns:
        _, of_aws, name = str(arn.raw).partition(_OF_AWS)
        if of_aws and name not in context.settings["managed"]:
            yield violation(arn)


def _iam_user(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type in _USERS:
        yield Violation(path="", got=f"an IAM {resource.type.rpartition(':')[2]}")
    elif resource.type == tokens.POLICY_ATTACHMENT and resource["users"].items():
        yield violation(resource["users"])


NO_ADMIN = ResourceRule(
    name="iam-no-admin",
    types=(*_DOCUMENTS, *_ATTACHMENTS, tokens.USER, tokens.ACCESS_KEY),
    settings={"managed": setting("policies of AWS that may be attached, by path and name", _MANAGED)},
    finds={
        "actions": _all_actions,
        "s3": _all_of_s3,
        "managed": _unread,
        "people": _iam_user,
    },
)


def _on_everything(chosen: Callable[[str], bool]) -> Callable[[Resource, Context], Iterator[Violation]]:
    """Actions of a kind that a document allows on every resource, without a condition that limits the resources."""

    def find(resource: Resource, _: Context) -> Iterator[Violation]:
        for document, statement in _allowing(resource):
            if not statement.everywhere or limits_the_resource(statement):
                continue
            actions = [action for action in statement.actions if chosen(action)]
            if actions:
                yield violation(document, f"allowing {', '.join(sorted(actions))} on every resource")

    return find


_ANY_IDENTITY: Final = re.compile(r"arn:[^:]*:(iam|\*):[^:]*:[^:]*:([a-z?]*[*?]*/?|[a-z-]+/)[*?/]*")
_OVER_IDENTITIES: Final = (*PERMISSIONS, *CREDENTIALS, *ESCALATION)


def _any_identity(resource: Resource, _: Context) -> Iterator[Violation]:
    """Roles, users or policies by a wildcard without a prefix: whoever may change or become each of them has the rights
    of the strongest."""
    for document, statement in _allowing(resource):
        if statement.everywhere or limits_the_resource(statement) or _to_services(statement):
            continue
        names = [one.text() or "" for one in listed(statement.node["Resource"]) if one.known]
        wide = [name for name in names if _ANY_IDENTITY.fullmatch(name)]
        actions = [one for one in statement.actions if among(one, _OVER_IDENTITIES)]
        if wide and actions:
            yield violation(document, f"allowing {', '.join(sorted(actions))} on {', '.join(wide)}")


def _to_services(statement: Statement) -> bool:
    return narrow(statement, lambda key: key == "iam:passedtoservice")


def _special(action: str) -> bool:
    return any(among(action, kind) for kind in (PERMISSIONS, CREDENTIALS, ESCALATION, EXFILTRATION))


def _writes(action: str) -> bool:
    return not reads(action) and not _special(action) and action != "ecr:getauthorizationtoken"


def _passes_any_role(resource: Resource, _: Context) -> Iterator[Violation]:
    for document, statement in _allowing(resource):
        passing = any(among("iam:passrole", (action,)) for action in statement.actions)
        if passing and not statement.everywhere and not _to_services(statement):
            yield violation(document, "allowing iam:PassRole to any service")


SCOPED_WRITES = ResourceRule(
    name="iam-scoped-writes",
    types=_DOCUMENTS,
    finds={
        "writes": _on_everything(_writes),
        "permissions": _on_everything(
            lambda action: (
                among(action, PERMISSIONS) and not among(action, ESCALATION) and not among(action, CREDENTIALS)
            )
        ),
        "exfiltration": _on_everything(lambda action: among(action, EXFILTRATION)),
        "credentials": _on_everything(lambda action: among(action, CREDENTIALS) and not among(action, ESCALATION)),
        "escalation": _on_everything(lambda action: among(action, ESCALATION)),
        "reads": _on_everything(lambda action: among(action, RESTRICTABLE) and reads(action)),
        "identities": _any_identity,
        "pass-role": _passes_any_role,
    },
)


_ACCOUNT: Final = re.compile(r"\d{12}|arn:[a-z-]+:iam::\d{12}:root")
_OF_PRINCIPAL: Final = frozenset({"aws:principalarn", "aws:principalorgid", "aws:sourcearn", "sts:externalid"})
_POD_TAGS: Final = frozenset({"eks-cluster-arn", "kubernetes-namespace", "kubernetes-service-account"})
_POD_KEYS: Final = tuple(f"aws:requesttag/{tag}" for tag in sorted(_POD_TAGS))


def _trusting(role: Resource) -> Iterator[Statement]:
    return (statement for statement in statements(role["assumeRolePolicy"]) if statement.allows)


def _trust_violation(role: Resource, got: str) -> Violation:
    return violation(role["assumeRolePolicy"], got)


def _any_principal(role: Resource, _: Context) -> Iterator[Violation]:
    for statement in _trusting(role):
        if not statement.node["NotPrincipal"].missing:
            yield _trust_violation(role, "trusting all principals but some (NotPrincipal)")
        elif any("*" in str(who.raw) for kind in ("AWS", "Service", "Federated") for who in statement.principals(kind)):
            yield _trust_violation(role, "trusting the principal '*'")


def _whole_account(role: Resource, _: Context) -> Iterator[Violation]:
    """An account's root principal includes every identity in it that may assume roles."""
    for statement in _trusting(role):
        named = [who for who in statement.principals("AWS") if _ACCOUNT.fullmatch(str(who.raw))]
        if named and not narrow(statement, lambda key: key in _OF_PRINCIPAL or key.startswith("aws:principaltag/")):
            yield _trust_violation(role, f"trusting all of {named[0].raw}")


def _federated(role: Resource, part: str) -> Iterator[Statement]:
    for statement in _trusting(role):
        if any(part in str(who.raw) for who in statement.principals("Federated")):
            yield statement


def _values(statement: Statement, ending: str) -> list[Node]:
    return [value for key, values in constraints(statement) if key.endswith(ending) for value in values]


def _any_service_account(role: Resource, _: Context) -> Iterator[Violation]:
    for statement in _federated(role, "oidc.eks."):
        subjects, audiences = _values(statement, ":sub"), _values(statement, ":aud")
        wide = [subject for subject in subjects if "*" in str(subject.raw)]
        if not undecided(statement) and (not subjects or not audiences or wide):
            yield _trust_violation(role, "trusting more than one service account of the cluster")


def _any_repository(role: Resource, _: Context) -> Iterator[Violation]:
    """The subject of a workflow is `repo:owner/name:...` (GitHub Docs, "OpenID Connect reference")."""
    for statement in _federated(role, "token.actions.githubusercontent.com"):
        subjects = [str(subject.raw) for subject in _values(statement, ":sub") if subject.known]
        pinned = [
            subject
            for subject in subjects
            if re.fullmatch(r"repo:[^*?/:]+/[^*?/:]+:[^*?]+", subject) and not subject.endswith(":pull_request")
        ]
        if not undecided(statement) and (not subjects or len(pinned) < len(subjects)):
            yield _trust_violation(role, "trusting every branch and pull request of a repository, or several of them")


def _any_issuer(role: Resource, _: Context) -> Iterator[Violation]:
    """Any other issuer: one of its keys (`ISSUER:aud`, `ISSUER:sub`, `SAML:aud`) has to have a few values."""
    for statement in _trusting(role):
        issuers = [str(who.raw) for who in statement.principals("Federated") if who.known]
        if any(part in who for who in issuers for part in ("oidc.eks.", "token.actions.githubusercontent.com")):
            continue
        if issuers and not narrow(statement, lambda key: key.endswith((":aud", ":sub"))):
            yield _trust_violation(role, f"trusting everybody with a token of {', '.join(issuers)}")


def _any_pod(role: Resource, _: Context) -> Iterator[Violation]:
    for statement in _trusting(role):
        pods = any(str(who.raw).startswith("pods.eks.amazonaws.com") for who in statement.principals("Service"))
        tags = {key.rpartition("/")[2] for key in _POD_KEYS if narrow(statement, key.__eq__)}
        if pods and not tags >= _POD_TAGS:
            yield _trust_violation(role, f"trusting pods without a condition on {', '.join(sorted(_POD_TAGS - tags))}")


TRUST_SCOPED = ResourceRule(
    name="iam-trust-scoped",
    types=(tokens.ROLE,),
    finds={
        "anybody": _any_principal,
        "account": _whole_account,
        "service-account": _any_service_account,
        "repository": _any_repository,
        "issuer": _any_issuer,
        "pod-identity": _any_pod,
    },
)

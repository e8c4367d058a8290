"""Trust policies of IAM roles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.evaluation.conditions import constraints, narrow, undecided
from policies.evaluation.documents import Statement, statements
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import ROLE
from policies.rule import Check, Context, ResourceRule, Violation, violation

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


def _any_identity(role: Resource, _: Context) -> Iterator[Violation]:
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
    title="Trust policies name one service, service account or repository",
    types=(ROLE,),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="A trust policy with an issuer and no subject lets anyone with a token of that issuer assume the role.",
    fix="Name the principal, and pin its subject by conditions (components.base.iam has the forms).",
    checks={
        "anybody": Check(
            asks="must name its principals",
            find=_any_principal,
            external_ids=("CKV_AWS_60",),
        ),
        "account": Check(
            asks="must name principals, or limit an account by a condition",
            find=_whole_account,
            external_ids=("CKV_AWS_61",),
        ),
        "service-account": Check(
            asks="must pin subject and audience",
            find=_any_service_account,
        ),
        "repository": Check(
            asks="must pin one repository, and in it one environment or branch",
            find=_any_repository,
            external_ids=("CKV_AWS_393",),
        ),
        "issuer": Check(
            asks="must pin the audience or the subject of each issuer",
            find=_any_identity,
        ),
        "pod-identity": Check(
            asks="must pin cluster, namespace and service account",
            find=_any_pod,
        ),
    },
)

RULES = (TRUST_SCOPED,)

"""IAM policies: no administrator access, and no writes to all resources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pulumi_policy import Severity

from policies.evaluation.actions import CREDENTIALS, ESCALATION, EXFILTRATION, PERMISSIONS, RESTRICTABLE, among, reads
from policies.evaluation.conditions import limits_the_resource, narrow
from policies.evaluation.documents import Statement, listed, statements
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import (
    ACCESS_KEY,
    GROUP_POLICY,
    POLICY,
    POLICY_ATTACHMENT,
    ROLE,
    ROLE_ATTACHMENT,
    ROLE_POLICY,
    USER,
    USER_ATTACHMENT,
    USER_POLICY,
)
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation

_DOCUMENTS: Final = (ROLE_POLICY, POLICY, GROUP_POLICY, USER_POLICY, ROLE)
_ATTACHMENTS: Final = (ROLE_ATTACHMENT, POLICY_ATTACHMENT, USER_ATTACHMENT)
_USERS: Final = (USER, ACCESS_KEY, USER_POLICY, USER_ATTACHMENT)
_MANAGED: Final = [
    "AmazonEBSCSIDriverEKSClusterScopedPolicy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonEKSClusterPolicy",
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEKSVPCResourceController",
    "AmazonSSMManagedInstanceCore",
    "service-role/AmazonEFSCSIDriverPolicy",
    "service-role/AmazonRDSEnhancedMonitoringRole",
]
"""Policies of AWS that the program attaches; what they allow was read (2026-11)."""
_OF_AWS: Final = ":iam::aws:policy/"


def _documents(resource: Resource) -> list[Node]:
    if resource.type == ROLE:
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
        arns = resource["managedPolicyArns"].items() if resource.type == ROLE else []
    for arn in arns:
        _, of_aws, name = str(arn.raw).partition(_OF_AWS)
        if of_aws and name not in context.settings["managed"]:
            yield violation(arn)


def _iam_user(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type in _USERS:
        yield Violation(path="", got=f"an IAM {resource.type.rpartition(':')[2]}")
    elif resource.type == POLICY_ATTACHMENT and resource["users"].items():
        yield violation(resource["users"])


NO_ADMIN = ResourceRule(
    name="iam-no-admin",
    title="The stack has no account administrators and no IAM users",
    types=(*_DOCUMENTS, *_ATTACHMENTS, USER, ACCESS_KEY),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="One vulnerability in a pod or pipeline with administrator access compromises the whole account.",
    fix="Name the required actions, and give people access through IAM Identity Center.",
    settings={
        "managed": Setting(
            asks="policies of AWS that may be attached, by path and name",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere(_MANAGED),
        )
    },
    checks={
        "actions": Check(
            asks="must name its actions",
            find=_all_actions,
            external_ids=("CKV_AWS_62", "CKV_AWS_63", "CKV2_AWS_40"),
        ),
        "s3": Check(
            asks="must name buckets or actions",
            find=_all_of_s3,
            external_ids=("AVD-AWS-0345",),
        ),
        "managed": Check(
            asks="must be a policy of AWS that somebody read",
            find=_unread,
            external_ids=("CKV_AWS_274", "CKV2_AWS_56"),
        ),
        "people": Check(
            asks="must not be in the stack",
            find=_iam_user,
            external_ids=("CKV_AWS_40", "CKV_AWS_273", "AVD-AWS-0143"),
        ),
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
    title="Writes, permission changes and data reads are allowed on named resources only",
    types=_DOCUMENTS,
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A permission on `*` includes every present and future resource of every team in the account.",
    fix="Name ARNs in resources, or limit the statement by a condition on tags.",
    checks={
        "writes": Check(
            asks="must name the resources that it changes",
            find=_on_everything(_writes),
            external_ids=("CKV_AWS_290", "CKV_AWS_355"),
        ),
        "permissions": Check(
            asks="must name the resources whose permissions it manages",
            find=_on_everything(
                lambda action: (
                    among(action, PERMISSIONS) and not among(action, ESCALATION) and not among(action, CREDENTIALS)
                )
            ),
            external_ids=("CKV_AWS_289", "CKV_AWS_355"),
        ),
        "exfiltration": Check(
            asks="must name the data that it reads",
            find=_on_everything(lambda action: among(action, EXFILTRATION)),
            external_ids=("CKV_AWS_288", "CKV_AWS_355"),
        ),
        "credentials": Check(
            asks="must name the resources whose credentials it gets",
            find=_on_everything(lambda action: among(action, CREDENTIALS) and not among(action, ESCALATION)),
            external_ids=("CKV_AWS_287", "CKV_AWS_355"),
        ),
        "escalation": Check(
            asks="must not allow privilege escalation",
            find=_on_everything(lambda action: among(action, ESCALATION)),
            external_ids=("CKV_AWS_286", "CKV_AWS_289", "CKV_AWS_355"),
        ),
        "reads": Check(
            asks="must name the resources that it reads, where AWS supports that",
            find=_on_everything(lambda action: among(action, RESTRICTABLE) and reads(action)),
            external_ids=("CKV_AWS_355",),
        ),
        "identities": Check(
            asks="must name the roles, users and policies that it changes or becomes",
            find=_any_identity,
        ),
        "pass-role": Check(
            asks="must limit the services to which a role may be passed",
            find=_passes_any_role,
            external_ids=("AVD-AWS-0342",),
        ),
    },
)

RULES = (NO_ADMIN, SCOPED_WRITES)

"""What IAM documents allow: no administrators, and no writing to whatever there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pulumi_policy import Severity

from policies.access import Node
from policies.actions import CREDENTIALS, ESCALATION, EXFILTRATION, PERMISSIONS, RESTRICTABLE, among, reads
from policies.documents import Statement, statements
from policies.levels import Levels
from policies.resource import Resource
from policies.rule import Check, Context, ResourceRule, Violation, violation
from policies.tokens import (
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

_DOCUMENTS: Final = (ROLE_POLICY, POLICY, GROUP_POLICY, USER_POLICY, ROLE)
_ATTACHMENTS: Final = (ROLE_ATTACHMENT, POLICY_ATTACHMENT, USER_ATTACHMENT)
_PEOPLE: Final = (USER, ACCESS_KEY, USER_POLICY, USER_ATTACHMENT)
_ADMINISTRATORS: Final = ("AdministratorAccess", "IAMFullAccess", "PowerUserAccess", "AmazonS3FullAccess")


def _documents(resource: Resource) -> list[Node]:
    if resource.type == ROLE:
        return [policy["policy"] for policy in resource["inlinePolicies"].items()]
    return [resource["policy"]] if resource.type in _DOCUMENTS else []


def _allowing(resource: Resource) -> Iterator[tuple[Node, Statement]]:
    for document in _documents(resource):
        yield from ((document, statement) for statement in statements(document) if statement.allows)


def _all_actions(resource: Resource, _: Context) -> Iterator[Violation]:
    for document, statement in _allowing(resource):
        if statement.inverted or "*" in statement.actions or "*:*" in statement.actions:
            yield violation(document, "allowing every action, or every action but some")


def _all_of_s3(resource: Resource, _: Context) -> Iterator[Violation]:
    for document, statement in _allowing(resource):
        if "s3:*" in statement.actions and statement.everywhere:
            yield violation(document, "allowing s3:* on every bucket")


def _attached_admin(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type in _ATTACHMENTS:
        arns = [resource["policyArn"]]
    else:
        arns = resource["managedPolicyArns"].items() if resource.type == ROLE else []
    yield from (violation(arn) for arn in arns if str(arn.raw).rpartition("/")[2] in _ADMINISTRATORS)


def _people(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type in _PEOPLE:
        yield Violation(path="", got=f"an IAM {resource.type.rpartition(':')[2]}")


NO_ADMIN = ResourceRule(
    name="iam-no-admin",
    title="Nothing in the stack is an administrator of the account, and nothing in it is a person",
    types=(*_DOCUMENTS, *_ATTACHMENTS, USER, ACCESS_KEY),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="A pod or a pipeline with every right makes one flaw in it the loss of the account.",
    fix="Name the actions that are needed, and let people come by IAM Identity Center.",
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
            asks="must not be a policy of administrators",
            find=_attached_admin,
            external_ids=("CKV_AWS_274", "CKV2_AWS_56"),
        ),
        "people": Check(
            asks="must not be in the stack",
            find=_people,
            external_ids=("CKV_AWS_40", "CKV_AWS_273", "AVD-AWS-0143"),
        ),
    },
)


def _limited(statement: Statement) -> bool:
    """Whether a condition narrows the statement to what is tagged, to one region's reads, or to one service."""
    return not statement.node["Condition"].missing


def _on_everything(chosen: Callable[[str], bool]) -> Callable[[Resource, Context], Iterator[Violation]]:
    """Actions of a kind that a document allows on every resource without a condition."""

    def find(resource: Resource, _: Context) -> Iterator[Violation]:
        for document, statement in _allowing(resource):
            if not statement.everywhere or _limited(statement):
                continue
            found = [action for action in statement.actions if chosen(action)]
            if found:
                yield violation(document, f"allowing {', '.join(sorted(found))} on every resource")

    return find


def _special(action: str) -> bool:
    return any(among(action, kind) for kind in (PERMISSIONS, CREDENTIALS, ESCALATION, EXFILTRATION))


def _writes(action: str) -> bool:
    return not reads(action) and not _special(action) and action != "ecr:getauthorizationtoken"


def _passes_any_role(resource: Resource, _: Context) -> Iterator[Violation]:
    for document, statement in _allowing(resource):
        passing = any(among("iam:passrole", (action,)) for action in statement.actions)
        if passing and not statement.everywhere and "iam:passedtoservice" not in statement.conditions:
            unknown = statement.node["Condition"].unknown
            if not unknown:
                yield violation(document, "allowing iam:PassRole to whichever service")


SCOPED_WRITES = ResourceRule(
    name="iam-scoped-writes",
    title="What changes, gives rights or carries data away is allowed on named resources only",
    types=_DOCUMENTS,
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A right on `*` holds for everything that the account will ever have, of every team.",
    fix="Name ARNs in resources, or narrow the statement by a condition on tags.",
    checks={
        "writes": Check(
            asks="must name the resources that it changes",
            find=_on_everything(_writes),
            external_ids=("CKV_AWS_290",),
        ),
        "permissions": Check(
            asks="must name the resources whose permissions it manages",
            find=_on_everything(
                lambda action: (
                    among(action, PERMISSIONS) and not among(action, ESCALATION) and not among(action, CREDENTIALS)
                )
            ),
            external_ids=("CKV_AWS_289",),
        ),
        "exfiltration": Check(
            asks="must name the data that it reads",
            find=_on_everything(lambda action: among(action, EXFILTRATION)),
            external_ids=("CKV_AWS_288",),
        ),
        "credentials": Check(
            asks="must name whose credentials it gets",
            find=_on_everything(lambda action: among(action, CREDENTIALS) and not among(action, ESCALATION)),
            external_ids=("CKV_AWS_287",),
        ),
        "escalation": Check(
            asks="must not let its holder take more rights",
            find=_on_everything(lambda action: among(action, ESCALATION)),
            external_ids=("CKV_AWS_286",),
        ),
        "reads": Check(
            asks="must name the resources that it reads, where AWS can tell them apart",
            find=_on_everything(lambda action: among(action, RESTRICTABLE) and reads(action)),
            external_ids=("CKV_AWS_355",),
        ),
        "pass-role": Check(
            asks="must say to which service a role may be passed",
            find=_passes_any_role,
            external_ids=("AVD-AWS-0342",),
        ),
    },
)

RULES = (NO_ADMIN, SCOPED_WRITES)

"""Permissions of the IAM role of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from policies.evaluation.actions import reads
from policies.evaluation.documents import Statement, statements
from policies.levels import Levels
from policies.resources.access import texts
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import PULL_THROUGH_CACHE, ROLE, ROLE_ATTACHMENT, ROLE_POLICY
from policies.rule import Check, Context, Setting, StackRule, Violation, everywhere, violation


def _of_nodes(role: Resource) -> bool:
    """Only EC2 assumes the role of a node; the domain of the service differs in some partitions."""
    principals = [who for statement in statements(role["assumeRolePolicy"]) for who in statement.principals("Service")]
    return any(str(who.raw).startswith("ec2.amazonaws.com") for who in principals)


def _node_roles(policy: Resource) -> list[Resource]:
    return [role for role in policy.source("role", ROLE) if _of_nodes(role)]


def _attached(stack: Stack, context: Context) -> Iterator[Violation]:
    for attachment in stack.of(ROLE_ATTACHMENT):
        arn = attachment["policyArn"].text()
        allowed = arn is None or arn.rpartition("/")[2] in context.settings["policies"]
        if _node_roles(attachment) and not allowed:
            yield violation(attachment["policyArn"], at=attachment)


def _written(stack: Stack, _: Context) -> Iterator[Violation]:
    for policy in stack.of(ROLE_POLICY):
        if not _node_roles(policy):
            continue
        for statement in statements(policy["policy"]):
            writes = [action for action in statement.actions if not reads(action)]
            if statement.allows and (writes or statement.inverted):
                got = f"allowing more than reads: {', '.join(writes)} on {_where(statement, stack)}"
                yield violation(policy["policy"], got, policy)


def _where(statement: Statement, stack: Stack) -> str:
    """The resources, with CACHE for the prefix of any pull-through cache: a suppression is bound to the text."""
    text = statement.where
    for prefix in texts(rule["ecrRepositoryPrefix"] for rule in stack.of(PULL_THROUGH_CACHE)):
        text = text.replace(f":repository/{prefix}/", ":repository/CACHE/")
    return ", ".join(dict.fromkeys(text.split(", ")))


NODE_ROLE_MINIMAL = StackRule(
    name="node-role-minimal",
    title="Node roles allow only joining the cluster, pulling images and Session Manager",
    types=(ROLE, ROLE_POLICY, ROLE_ATTACHMENT),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A process that escapes its container has the node's role (EKS Best Practices, Identity and Access "
    "Management).",
    fix="Grant the permission to the pod that needs it: an IAM role for its service account, through EKS Pod Identity.",
    settings={
        "policies": Setting(
            asks="AWS managed policies that a node role may have",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere(
                [
                    "AmazonEKSWorkerNodePolicy",
                    "AmazonEKSWorkerNodeMinimalPolicy",
                    "AmazonEC2ContainerRegistryPullOnly",
                    "AmazonEC2ContainerRegistryReadOnly",
                    "AmazonSSMManagedInstanceCore",
                ]
            ),
        )
    },
    checks={
        "attached": Check(
            asks="must be one of the policies that nodes need",
            find=_attached,
            external_ids=("CIS-5.1.3",),
        ),
        "written": Check(
            asks="must only allow reads",
            find=_written,
        ),
    },
)

RULES = (NODE_ROLE_MINIMAL,)

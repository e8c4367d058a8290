"""Managed node groups and Auto Scaling groups: updates, names and sizes; what the role of nodes may do."""

import re
from collections.abc import Iterator
from typing import Final

from policies.checks.questions import at_most, false, unless_set
from policies.evaluation.iam import Statement, reads, statements
from policies.resources import tokens
from policies.resources.access import texts, unknowns
from policies.resources.resource import Resource, Stack
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation


def _unbounded(group: Resource, _: Context) -> Iterator[Violation]:
    update = group["updateConfig"]
    if update["maxUnavailable"].missing and update["maxUnavailablePercentage"].missing:
        yield violation(update)


SAFE_UPDATE = ResourceRule(
    name="nodegroup-safe-update",
    types=(tokens.NODE_GROUP,),
    settings={
        "maximumPercent": setting(
            "percent of a group's nodes that may be unavailable at once", 100, 50, 34, minimum=1, maximum=100
        ),
        "allowForce": setting("whether an update may ignore PodDisruptionBudgets", True, False, False),
    },
    finds={
        "bound": _unbounded,
        "share": at_most("updateConfig.maxUnavailablePercentage", "maximumPercent"),
        "force": unless_set("allowForce", false("forceUpdateVersion")),
    },
)


def _fixed_name(group: Resource, _: Context) -> Iterator[Violation]:
    """The engine passes inputs after the provider's check, which sets an auto-generated name: the logical name,
    optionally prefixed with project and stack, and a suffix of random hexadecimal digits."""
    name = group["nodeGroupName"].text()
    generated = rf"([a-z0-9-]+-)?{re.escape(group.name)}-[0-9a-f]{{7,}}"
    if name is not None and not re.fullmatch(generated, name) and not group.delete_before_replace:
        yield violation(group["nodeGroupName"])


AUTONAME = ResourceRule(
    name="nodegroup-autoname",
    types=(tokens.NODE_GROUP,),
    finds={"name": _fixed_name},
)
_IGNORED: Final = {"scalingConfig.desiredSize", "scalingConfig"}


def _desired_size_reset(group: Resource, _: Context) -> Iterator[Violation]:
    scaling = group["scalingConfig"]
    low, high = scaling["minSize"].number(), scaling["maxSize"].number()
    if low is not None and high is not None and low < high and not _IGNORED.intersection(group.ignore_changes):
        yield Violation(path="ignoreChanges", got=f"{list(group.ignore_changes)} for {low:g} to {high:g} nodes")


DESIRED_IGNORED = ResourceRule(
    name="nodegroup-desired-ignored",
    types=(tokens.NODE_GROUP,),
    finds={"desired": _desired_size_reset},
)


def _configured(group: Resource, _: Context) -> Iterator[Violation]:
    if group["launchTemplate"].missing and group["mixedInstancesPolicy"].missing:
        yield violation(group["launchTemplate"])


def _untagged(group: Resource, context: Context) -> Iterator[Violation]:
    tags = group["tags"]
    propagated = [tag["key"] for tag in tags.items() if not tag["propagateAtLaunch"].is_false(default=False)]
    missing = [key for key in context.settings["tags"] if key not in texts(propagated)]
    if len(missing) > unknowns(propagated) and not tags.unknown:
        yield violation(tags, f"without {', '.join(missing)}")


ASG_TAGS = ResourceRule(
    name="asg-launch-template-tags",
    types=(tokens.AUTO_SCALING_GROUP,),
    settings={"tags": setting("tags that its instances must have", ["owner", "environment"])},
    finds={
        "template": _configured,
        "tags": _untagged,
    },
)


def _of_nodes(role: Resource) -> bool:
    """Only EC2 assumes the role of a node; the domain of the service differs in some partitions."""
    principals = [who for statement in statements(role["assumeRolePolicy"]) for who in statement.principals("Service")]
    return any(str(who.raw).startswith("ec2.amazonaws.com") for who in principals)


def _node_roles(policy: Resource) -> list[Resource]:
    return [role for role in policy.source("role", tokens.ROLE) if _of_nodes(role)]


def _attached(stack: Stack, context: Context) -> Iterator[Violation]:
    for attachment in stack.of(tokens.ROLE_ATTACHMENT):
        arn = attachment["policyArn"].text()
        allowed = arn is None or arn.rpartition("/")[2] in context.settings["policies"]
        if _node_roles(attachment) and not allowed:
            yield violation(attachment["policyArn"], at=attachment)


def _written(stack: Stack, _: Context) -> Iterator[Violation]:
    for policy in stack.of(tokens.ROLE_POLICY):
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
    for prefix in texts(rule["ecrRepositoryPrefix"] for rule in stack.of(tokens.PULL_THROUGH_CACHE)):
        text = text.replace(f":repository/{prefix}/", ":repository/CACHE/")
    return ", ".join(dict.fromkeys(text.split(", ")))


NODE_ROLE_MINIMAL = StackRule(
    name="node-role-minimal",
    types=(tokens.ROLE, tokens.ROLE_POLICY, tokens.ROLE_ATTACHMENT),
    settings={
        "policies": setting(
            "AWS managed policies that a node role may have",
            [
                "AmazonEKSWorkerNodePolicy",
                "AmazonEKSWorkerNodeMinimalPolicy",
                "AmazonEC2ContainerRegistryPullOnly",
                "AmazonEC2ContainerRegistryReadOnly",
                "AmazonSSMManagedInstanceCore",
            ],
        )
    },
    finds={
        "attached": _attached,
        "written": _written,
    },
)

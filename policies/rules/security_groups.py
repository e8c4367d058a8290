"""Security groups: rules for named networks, descriptions, and no unused groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.evaluation.documents import listed
from policies.evaluation.ranges import internet
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import EGRESS_RULE, INGRESS_RULE, SECURITY_GROUP, SECURITY_GROUP_RULE
from policies.rule import Check, Context, ResourceRule, StackRule, Violation, violation

_RULES: Final = (SECURITY_GROUP_RULE, INGRESS_RULE, EGRESS_RULE)
_MADE_BY_PULUMI: Final = "Managed by Pulumi"
"""The description that the AWS provider sets by default."""


def _entries(resource: Resource, way: str) -> list[Node]:
    """Rules of one direction, `ingress` or `egress`, wherever they are written."""
    if resource.type == SECURITY_GROUP:
        return resource[way].items()
    if resource.type == SECURITY_GROUP_RULE:
        return [resource.props] if resource["type"].raw == way else []
    token = INGRESS_RULE if way == "ingress" else EGRESS_RULE
    return [resource.props] if resource.type == token else []


def _ranges(entry: Node) -> list[Node]:
    ranges = [entry["cidrIpv4"], entry["cidrIpv6"]]
    return [node for node in ranges + listed(entry["cidrBlocks"]) + listed(entry["ipv6CidrBlocks"]) if node.known]


def _open(resource: Resource, way: str) -> Iterator[Violation]:
    ranges = [node for entry in _entries(resource, way) for node in _ranges(entry)]
    yield from (violation(node) for node in internet(ranges))


def _open_in(resource: Resource, _: Context) -> Iterator[Violation]:
    yield from _open(resource, "ingress")


def _open_out(resource: Resource, _: Context) -> Iterator[Violation]:
    yield from _open(resource, "egress")


def _prefix_list(resource: Resource, _: Context) -> Iterator[Violation]:
    """The owner of a list changes its ranges at any time (VPC User Guide, "Managed prefix lists")."""
    for entry in [*_entries(resource, "ingress"), *_entries(resource, "egress")]:
        lists = [entry["prefixListId"], *listed(entry["prefixListIds"])]
        yield from (violation(node) for node in lists if node.known)


def _undescribed(resource: Resource, _: Context) -> Iterator[Violation]:
    places = [resource["description"]]
    if resource.type == SECURITY_GROUP:
        places += [entry["description"] for way in ("ingress", "egress") for entry in resource[way].items()]
    yield from (violation(text) for text in places if text.missing or text.raw in ("", _MADE_BY_PULUMI))


LEAST_OPEN = ResourceRule(
    name="sg-least-open",
    title="Security group rules name networks or groups, and have a description",
    types=(SECURITY_GROUP, *_RULES),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="An open port is found within minutes; open egress lets an attacker exfiltrate data.",
    fix="Name a network or another group, and describe the rule; for an exception, add a suppression with the reason.",
    checks={
        "ingress": Check(
            asks="must not be all addresses",
            find=_open_in,
            external_ids=("CKV_AWS_24", "CKV_AWS_25", "CKV_AWS_260", "CKV_AWS_277", "AVD-AWS-0107"),
        ),
        "egress": Check(
            asks="must not be all addresses",
            find=_open_out,
            external_ids=("CKV_AWS_382", "AVD-AWS-0104"),
        ),
        "prefix-list": Check(
            asks="must not be a prefix list, whose ranges are not in the program",
            find=_prefix_list,
        ),
        "description": Check(
            asks="must describe the purpose",
            find=_undescribed,
            external_ids=("CKV_AWS_23", "AVD-AWS-0099", "AVD-AWS-0124"),
        ),
    },
)


def _unused(stack: Stack, _: Context) -> Iterator[Violation]:
    users = [resource for resource in stack.resources if resource.type not in (*_RULES, SECURITY_GROUP)]
    for group in stack.of(SECURITY_GROUP):
        if not any(user.takes_from(group) for user in users):
            yield Violation(path="", got="attached to nothing", at=group)


GROUPS_USED = StackRule(
    name="sg-attached",
    title="Every security group is attached to something",
    types=(SECURITY_GROUP,),
    severity=Severity.LOW,
    levels=Levels("A/A/M"),
    why="An unused group can be attached later without a review of its rules.",
    fix="Attach it, or remove it.",
    checks={
        "used": Check(
            asks="must be attached",
            find=_unused,
            external_ids=("CKV2_AWS_5",),
        )
    },
)

RULES = (LEAST_OPEN, GROUPS_USED)

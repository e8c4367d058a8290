"""Identities whose permissions on instances depend on the tags of the instances."""

from collections.abc import Iterator
from typing import Final

from policies.evaluation.iam import Statement, listed, statements
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import LAUNCH_TEMPLATE, NODE_CLASS, NODE_GROUP, NODE_POOL, POLICY, ROLE_POLICY
from policies.rule import Context, StackRule, Violation, violation
from spec.catalog.instance_tags import carried

_CONDITIONS: Final = ("aws:resourcetag/", "ec2:resourcetag/")


def _set_by_the_program(stack: Stack) -> list[Node]:
    """Tags of instances in NodeClasses and launch templates, as maps."""
    maps = [node_class["spec"]["tags"] for node_class in stack.of(NODE_CLASS)]
    for template in stack.of(LAUNCH_TEMPLATE):
        entries = template["tagSpecifications"]
        if entries.unknown:
            maps.append(entries)
        for entry in entries.items():
            if not entry["resourceType"].is_not("instance"):
                maps.append(entry["tags"])
    return maps


def _required(statement: Statement) -> list[str]:
    """Keys of instance tags that a statement requires, in lower case, as all IAM condition keys are compared."""
    return [
        key.partition("/")[2] for key in statement.conditions if key.startswith(_CONDITIONS) and key.partition("/")[2]
    ]


def _concerns_instances(statement: Statement) -> bool:
    resources = [str(resource.raw) for resource in listed(statement.node["Resource"])]
    acts = any(action.startswith("ec2:") for action in statement.actions)
    return statement.allows and acts and any(":instance/" in arn for arn in resources)


def _absent(stack: Stack, _: Context) -> Iterator[Violation]:
    maps = _set_by_the_program(stack)
    if any(tags.unknown for tags in maps):
        return
    own = {key.lower() for tags in maps for key in tags.fields()}
    managed, elastic = bool(stack.of(NODE_GROUP)), bool(stack.of(NODE_POOL))
    for policy in stack.of(ROLE_POLICY, POLICY):
        for statement in statements(policy["policy"]):
            missing = [
                key
                for key in _required(statement)
                if key not in own and not carried(key, managed=managed, elastic=elastic)
            ]
            if missing and _concerns_instances(statement):
                yield _violation(policy, missing[0])


def _violation(policy: Resource, key: str) -> Violation:
    return violation(policy["policy"], f"on condition that instances have the tag {key!r}, which none has", policy)


INSTANCE_TAGS = StackRule(
    name="identity-instance-tags",
    types=(ROLE_POLICY, POLICY, NODE_GROUP, NODE_POOL, NODE_CLASS, LAUNCH_TEMPLATE),
    finds={"tags": _absent},
)

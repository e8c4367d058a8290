"""Who pays: tags on what AWS bills, labels on what a cluster runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulumi_policy import Severity

from policies.access import Node, plain
from policies.documents import parsed
from policies.levels import Levels
from policies.resource import Resource
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation
from policies.tokens import (
    BUCKET,
    CLUSTER,
    DATABASE,
    EFS,
    LAUNCH_TEMPLATE,
    LUSTRE,
    NAMESPACE,
    NAT_GATEWAY,
    NODE_CLASS,
    NODE_GROUP,
    OPEN_ZFS,
    VOLUME,
)
from spec.teams.labels import COST_CENTER, PROJECT, TEAM

_BILLED: Final = (CLUSTER, NODE_GROUP, NAT_GATEWAY, BUCKET, EFS, LUSTRE, OPEN_ZFS, DATABASE, VOLUME)
_MADE: Final = ("instance", "volume")
"""What EC2 makes from a template, and bills; default tags of the provider don't reach it."""


def _defaults(resource: Resource) -> Node:
    """Tags that the provider puts on everything; arguments of a provider travel as JSON."""
    provider: Mapping[str, Any] = resource.provider
    given = provider["defaultTags"] if "defaultTags" in list(provider) else None
    return parsed(Node("defaultTags", plain(given)))["tags"]


def _lacking(tags: Node, defaults: Node, keys: list[str]) -> list[str]:
    return [key for key in keys if tags[key].missing and defaults[key].missing]


def _untagged(resource: Resource, context: Context) -> Iterator[Violation]:
    if resource.type in _BILLED:
        missing = _lacking(resource["tags"], _defaults(resource), context.settings["keys"])
        if missing:
            yield violation(resource["tags"], f"without {', '.join(missing)}")


def _untagged_machines(template: Resource, context: Context) -> Iterator[Violation]:
    given = template["tagSpecifications"]
    entries = given.items()
    for kind in _MADE if template.type == LAUNCH_TEMPLATE and not given.unknown else ():
        tags = [entry["tags"] for entry in entries if entry["resourceType"].raw in (kind, *_unknown(entry))]
        nothing = Node(f"{given.path}[{kind}]", None)
        if all(_lacking(found, nothing, context.settings["keys"]) for found in tags):
            yield violation(given, f"without {', '.join(context.settings['keys'])} for {kind}")


def _unknown(entry: Node) -> tuple[Any, ...]:
    kind = entry["resourceType"]
    return (kind.raw,) if kind.unknown else ()


def _untagged_nodes(node_class: Resource, context: Context) -> Iterator[Violation]:
    tags = node_class["spec"]["tags"]
    missing = _lacking(tags, Node("", None), context.settings["keys"]) if node_class.type == NODE_CLASS else []
    if missing:
        yield violation(tags, f"without {', '.join(missing)}")


COST_TAGS = ResourceRule(
    name="cost-tags-complete",
    title="Whatever AWS bills says whose it is and who pays",
    types=(*_BILLED, LAUNCH_TEMPLATE, NODE_CLASS),
    severity=Severity.MEDIUM,
    levels=Levels("M/M/M"),
    why="A line of the bill without an owner is paid by all, and cleaned up by nobody.",
    fix="Leave the provider's default tags in place, and pass them on to launch templates and node classes.",
    settings={
        "keys": Setting(
            asks="keys of tags that must be there",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere(["owner", "cost-center", "environment"]),
        )
    },
    checks={
        "tags": Check(
            asks="must name owner and payer",
            find=_untagged,
        ),
        "machines": Check(
            asks="must be for machines and their volumes",
            find=_untagged_machines,
        ),
        "nodes": Check(
            asks="must name owner and payer",
            find=_untagged_nodes,
        ),
    },
)


def _unlabelled(space: Resource, context: Context) -> Iterator[Violation]:
    labels = space["metadata"]["labels"]
    missing = [key for key in context.settings["labels"] if labels[key].missing]
    if labels[TEAM].known and missing:
        yield violation(labels, f"without {', '.join(missing)}")


WORKLOAD_LABELS = ResourceRule(
    name="workload-cost-labels",
    title="A team's namespace says what its work is for, and who pays",
    types=(NAMESPACE,),
    severity=Severity.LOW,
    levels=Levels("A/M/M"),
    why="Nodes are shared: the cost tool on the cluster splits their bill by these labels.",
    fix="Set project and costCenter of the team in the stack file.",
    settings={
        "labels": Setting(
            asks="labels that a team's namespace must have",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere([COST_CENTER, PROJECT]),
        )
    },
    checks={
        "labels": Check(
            asks="must name project and payer",
            find=_unlabelled,
        )
    },
)

RULES = (COST_TAGS, WORKLOAD_LABELS)

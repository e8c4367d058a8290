"""Cost allocation: tags of billed AWS resources, labels of namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulumi_policy import Severity

from policies.evaluation.documents import parsed
from policies.levels import Levels
from policies.resources.access import Node, plain
from policies.resources.resource import Resource
from policies.resources.tokens import (
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
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation
from spec.teams.labels import COST_CENTER, PROJECT, TEAM

_BILLED: Final = (CLUSTER, NODE_GROUP, NAT_GATEWAY, BUCKET, EFS, LUSTRE, OPEN_ZFS, DATABASE, VOLUME)
_LAUNCHED: Final = ("instance", "volume")
"""Resources that EC2 creates from a template and bills; the provider's default tags don't apply to them."""


def _defaults(resource: Resource) -> Node:
    """The provider's default tags; arguments of a provider are encoded as JSON."""
    provider: Mapping[str, Any] = resource.provider
    default_tags = provider["defaultTags"] if "defaultTags" in list(provider) else None
    return parsed(Node("defaultTags", plain(default_tags)))["tags"]


def _lacking(tags: Node, defaults: Node, keys: list[str]) -> list[str]:
    return [key for key in keys if tags[key].missing and defaults[key].missing]


def _untagged(resource: Resource, context: Context) -> Iterator[Violation]:
    if resource.type in _BILLED:
        missing = _lacking(resource["tags"], _defaults(resource), context.settings["keys"])
        if missing:
            yield violation(resource["tags"], f"without {', '.join(missing)}")


def _untagged_machines(template: Resource, context: Context) -> Iterator[Violation]:
    specifications = template["tagSpecifications"]
    entries = specifications.items()
    for kind in _LAUNCHED if template.type == LAUNCH_TEMPLATE and not specifications.unknown else ():
        tags = [entry["tags"] for entry in entries if entry["resourceType"].raw in (kind, *_unknown(entry))]
        nothing = Node(f"{specifications.path}[{kind}]", None)
        if all(_lacking(node, nothing, context.settings["keys"]) for node in tags):
            yield violation(specifications, f"without {', '.join(context.settings['keys'])} for {kind}")


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
    title="Billed AWS resources have cost allocation tags",
    types=(*_BILLED, LAUNCH_TEMPLATE, NODE_CLASS),
    severity=Severity.MEDIUM,
    levels=Levels("M/M/M"),
    why="The cost of untagged resources can't be allocated, and resources without an owner are not cleaned up.",
    fix="Keep the provider's default tags, and pass them on to launch templates and node classes.",
    settings={
        "keys": Setting(
            asks="required tag keys",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere(["owner", "cost-center", "environment"]),
        )
    },
    checks={
        "tags": Check(
            asks="must have the required tag keys",
            find=_untagged,
        ),
        "machines": Check(
            asks="must have the required tag keys for instances and volumes",
            find=_untagged_machines,
        ),
        "nodes": Check(
            asks="must have the required tag keys",
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
    title="Team namespaces have cost allocation labels",
    types=(NAMESPACE,),
    severity=Severity.LOW,
    levels=Levels("A/M/M"),
    why="Nodes are shared: the cost tool in the cluster allocates their cost by these labels.",
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
            asks="must name the project and the cost center",
            find=_unlabelled,
        )
    },
)

RULES = (COST_TAGS, WORKLOAD_LABELS)

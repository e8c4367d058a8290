"""Spot pools: allowed roles, diversification and interruption handling."""

from collections.abc import Iterator
from typing import Final

from policies.checks.pools import ZONE, label, node_pools, requirement, spot, type_names
from policies.checks.related import releases_of
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import EVENT_RULE, EVENT_TARGET, NODE_GROUP, NODE_POOL, QUEUE, RELEASE
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation
from spec.pools.keys import ROLE


def _reclaimed(pool: Resource, context: Context) -> Iterator[Violation]:
    role = label(pool, ROLE)
    if spot(pool) and role.raw in context.settings["roles"]:
        yield violation(role, f"{role.raw!r}, on Spot")


NO_SPOT_INFERENCE = ResourceRule(
    name="no-spot-prod-inference",
    types=(NODE_GROUP, NODE_POOL),
    settings={"roles": setting("roles of pools that must not be Spot", ["system", "inference"])},
    finds={"role": _reclaimed},
)


def _few(values: Node, minimum: float) -> bool:
    return values.known and len(values.items()) < minimum


def _few_types(pool: Resource, context: Context) -> Iterator[Violation]:
    types = type_names(pool)
    if spot(pool) and (types.missing if pool.type == NODE_GROUP else False):
        yield violation(types)
    if spot(pool) and _few(types, context.settings["types"]):
        yield violation(types)


def _few_zones(pool: Resource, context: Context) -> Iterator[Violation]:
    zones = pool["subnetIds"] if pool.type == NODE_GROUP else requirement(pool, ZONE)
    if spot(pool) and _few(zones, context.settings["zones"]):
        yield violation(zones)


DIVERSIFIED = ResourceRule(
    name="spot-pool-diversified",
    types=(NODE_GROUP, NODE_POOL),
    settings={
        "types": setting("minimum number of instance types", 3, minimum=1),
        "zones": setting("minimum number of zones", 2, minimum=1),
    },
    finds={
        "types": _few_types,
        "zones": _few_zones,
    },
)
_WARNING: Final = "EC2 Spot Instance Interruption Warning"


def _matches_warnings(pattern: Node) -> bool:
    return pattern.unknown or _WARNING in str(pattern.raw)


def _warning_queues(stack: Stack) -> list[tuple[Resource, Resource]]:
    """Rules for Spot interruptions with the queues that they write to."""
    rules = [rule for rule in stack.of(EVENT_RULE) if _matches_warnings(rule["eventPattern"])]
    targets = [target for target in stack.of(EVENT_TARGET) if any(target.takes_from(rule) for rule in rules)]
    return [(target, queue) for target in targets for queue in stack.of(QUEUE) if target.takes_from(queue)]


def _spot_pools(stack: Stack) -> list[Resource]:
    return [pool for pool in node_pools(stack) if spot(pool)]


def _without_events(stack: Stack, _: Context) -> Iterator[Violation]:
    if not _warning_queues(stack):
        for pool in _spot_pools(stack):
            yield Violation(
                path="", got="Spot, and no EventBridge rule sends interruption warnings to a queue", at=pool
            )


def _queue_not_set(stack: Stack, _: Context) -> Iterator[Violation]:
    """EKS node groups handle interruptions themselves; Karpenter does so only if the queue is configured."""
    if not any(pool.type == NODE_POOL for pool in _spot_pools(stack)):
        return
    for release in releases_of(stack, "karpenter"):
        queue = release["values"].at("settings", "interruptionQueue")
        if queue.missing:
            yield violation(queue, at=release)


INTERRUPTIONS = StackRule(
    name="spot-interruption-handling",
    types=(NODE_GROUP, NODE_POOL, QUEUE, EVENT_RULE, EVENT_TARGET, RELEASE),
    finds={
        "events": _without_events,
        "karpenter": _queue_not_set,
    },
)

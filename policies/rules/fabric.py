"""Pools with Elastic Fabric Adapters, and pools on Capacity Blocks."""

from collections.abc import Iterator
from typing import Final

from policies.checks.pools import children, facts
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import (
    EGRESS_RULE,
    INGRESS_RULE,
    KARPENTER_POOL,
    LAUNCH_TEMPLATE,
    MANAGED_POOL,
    NODE_CLASS,
    NODE_GROUP,
    PLACEMENT_GROUP,
    SECURITY_GROUP,
)
from policies.rule import Context, StackRule, Violation, violation
from spec.catalog import instances

_EFA: Final = ("efa", "efa-only")


def _fabrics(stack: Stack) -> list[tuple[Resource, Node]]:
    return [(component, pool) for component, pool in facts(stack) if (pool["efaCount"].number() or 0) > 0]


def _incapable(stack: Stack, _: Context) -> Iterator[Violation]:
    for component, pool in _fabrics(stack):
        for node in pool["instanceTypes"].items():
            machine = instances.find(str(node.raw))
            if machine is not None and not machine.efa_interfaces:
                yield violation(node, at=component)


def _scattered(stack: Stack, _: Context) -> Iterator[Violation]:
    for component, pool in _fabrics(stack):
        if pool["zones"].known and len(pool["zones"].items()) != 1:
            yield violation(pool["zones"], at=component)


def _interfaces(stack: Stack, component: Resource) -> Iterator[tuple[Resource, Node]]:
    for template in children(stack, component, LAUNCH_TEMPLATE):
        yield template, template["networkInterfaces"]
    for node_class in children(stack, component, NODE_CLASS):
        yield node_class, node_class["spec"]["networkInterfaces"]


def _unwired(stack: Stack, _: Context) -> Iterator[Violation]:
    for component, pool in _fabrics(stack):
        for machine, interfaces in _interfaces(stack, component):
            kinds = [interface["interfaceType"] for interface in interfaces.items()]
            count = sum(kind.unknown or kind.raw in _EFA for kind in kinds)
            if not interfaces.unknown and count < (pool["efaCount"].number() or 0):
                yield violation(interfaces, f"a list with {count} of {pool['efaCount'].shown} adapters", machine)


def _without_placement_group(stack: Stack, _: Context) -> Iterator[Violation]:
    """Reserved instances are placed by their reservation (EC2 User Guide, "Capacity Blocks for ML")."""
    for component, pool in _fabrics(stack):
        groups = children(stack, component, PLACEMENT_GROUP)
        together = any(not group["strategy"].is_not("cluster") for group in groups)
        if pool["market"].raw != "reserved" and not pool["market"].unknown and not together:
            yield Violation(path="pool", got="without a placement group with strategy cluster", at=component)


def _self_referencing(rule: Resource, group: Resource) -> bool:
    """Whether source and destination of a rule are the same group, for all protocols."""
    ends = (rule.source("securityGroupId", SECURITY_GROUP), rule.source("referencedSecurityGroupId", SECURITY_GROUP))
    return all(group in end for end in ends) and not rule["ipProtocol"].is_not("-1")


def _not_self_referencing(stack: Stack, _: Context) -> Iterator[Violation]:
    for component, _pool in _fabrics(stack):
        groups = children(stack, component, SECURITY_GROUP)
        for token, way in ((INGRESS_RULE, "from"), (EGRESS_RULE, "to")):
            if not any(_self_referencing(rule, group) for group in groups for rule in stack.of(token)):
                yield Violation(
                    path="pool", got=f"without a rule that allows all traffic {way} the group itself", at=component
                )


EFA_COMPLETE = StackRule(
    name="efa-pool-complete",
    types=(MANAGED_POOL, KARPENTER_POOL, LAUNCH_TEMPLATE, NODE_CLASS, SECURITY_GROUP, INGRESS_RULE, EGRESS_RULE),
    finds={
        "type": _incapable,
        "zone": _scattered,
        "interfaces": _unwired,
        "placement": _without_placement_group,
        "group": _not_self_referencing,
    },
)


def _blocks(stack: Stack) -> list[Resource]:
    return [group for group in stack.of(NODE_GROUP) if group["capacityType"].raw == "CAPACITY_BLOCK"]


def _wrong_market(stack: Stack, _: Context) -> Iterator[Violation]:
    for group in _blocks(stack):
        for template in group.source("launchTemplate", LAUNCH_TEMPLATE):
            market = template["instanceMarketOptions"]["marketType"]
            if market.is_not("capacity-block"):
                yield violation(market, at=template)
        if not group.source("launchTemplate", LAUNCH_TEMPLATE) and group["launchTemplate"].missing:
            yield violation(group["launchTemplate"], at=group)


def _unreserved(stack: Stack, _: Context) -> Iterator[Violation]:
    for group in _blocks(stack):
        for template in group.source("launchTemplate", LAUNCH_TEMPLATE):
            target = template["capacityReservationSpecification"]["capacityReservationTarget"]
            if target["capacityReservationId"].missing:
                yield violation(target["capacityReservationId"], at=template)


def _elastic(stack: Stack, _: Context) -> Iterator[Violation]:
    for group in _blocks(stack):
        scaling = group["scalingConfig"]
        low, high, desired = scaling["minSize"].number(), scaling["maxSize"].number(), scaling["desiredSize"]
        # Until the block is active, and for an upgrade.
        waiting = low == 0 and (desired.unknown or desired.number() == 0)
        if low is not None and high is not None and low != high and not waiting:
            yield violation(group["scalingConfig"], f"{low:g} to {high:g} nodes", group)


def _two_zones(stack: Stack, _: Context) -> Iterator[Violation]:
    for group in _blocks(stack):
        subnets = group["subnetIds"]
        if subnets.known and len(subnets.items()) != 1:
            yield violation(subnets, f"{len(subnets.items())} subnets", group)


CAPACITY_BLOCK = StackRule(
    name="capacity-block-wired",
    types=(NODE_GROUP, LAUNCH_TEMPLATE),
    finds={
        "market": _wrong_market,
        "reservation": _unreserved,
        "size": _elastic,
        "zone": _two_zones,
    },
)

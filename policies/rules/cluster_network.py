"""Subnets and zones of the control plane and the nodes, and the way to a private API endpoint."""

from collections.abc import Iterator
from typing import Final

from policies.checks.related import public_subnets, zones
from policies.resources.access import unknowns
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import CLUSTER, INGRESS_RULE, NODE_GROUP, ROUTE, ROUTE_ASSOCIATION, SUBNET
from policies.rule import Context, StackRule, Violation, setting, violation


def _subnets(resource: Resource) -> list[Resource]:
    return resource.source("vpcConfig" if resource.type == CLUSTER else "subnetIds", SUBNET)


def _exposed(stack: Stack, _: Context) -> Iterator[Violation]:
    public = public_subnets(stack)
    for resource in stack.of(CLUSTER, NODE_GROUP):
        for subnet in _subnets(resource):
            if any(subnet is other for other in public):
                yield Violation(path="", got=f"in {subnet.name}, which is public", at=resource)


def _few_zones(stack: Stack, context: Context) -> Iterator[Violation]:
    for cluster in stack.of(CLUSTER):
        subnets = _subnets(cluster)
        known = zones(subnets)
        unknown = unknowns(subnet["availabilityZone"] for subnet in subnets)
        if subnets and len(known) + unknown < context.settings["zones"]:
            yield Violation(path="vpcConfig.subnetIds", got=f"in {len(known)} zones", at=cluster)


PRIVATE_MULTI_AZ = StackRule(
    name="eks-private-multi-az",
    types=(CLUSTER, NODE_GROUP, SUBNET, ROUTE, ROUTE_ASSOCIATION),
    settings={"zones": setting("minimum number of zones of the control plane", 2, 2, 3, minimum=2)},
    finds={
        "private": _exposed,
        "zones": _few_zones,
    },
)

_API: Final = 443


def _unreachable(stack: Stack, _: Context) -> Iterator[Violation]:
    for cluster in stack.of(CLUSTER):
        config = cluster["vpcConfig"]
        # Groups of the stack's own may admit anyone.
        if config["endpointPublicAccess"].truth() is not False or not config["securityGroupIds"].missing:
            continue
        rules = [rule for rule in stack.of(INGRESS_RULE) if cluster in rule.source("securityGroupId", CLUSTER)]
        if not any(_admits(rule) for rule in rules):
            yield violation(config["endpointPublicAccess"], at=cluster)


def _admits(rule: Resource) -> bool:
    first, last = rule["fromPort"].number(), rule["toPort"].number()
    covered = (first is None or first <= _API) and (last is None or last >= _API)
    return covered and not rule["cidrIpv4"].missing


PRIVATE_REACHABLE = StackRule(
    name="eks-private-reachable",
    types=(CLUSTER, INGRESS_RULE),
    finds={"admitted": _unreachable},
)

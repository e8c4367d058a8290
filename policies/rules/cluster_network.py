"""Subnets and zones of the control plane and the nodes."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from policies.access import unknowns
from policies.levels import Levels
from policies.network import public_subnets, zones
from policies.resource import Resource, Stack
from policies.rule import Check, Context, Setting, StackRule, Violation
from policies.tokens import CLUSTER, NODE_GROUP, ROUTE, ROUTE_ASSOCIATION, SUBNET


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
    title="The control plane and nodes are in private subnets of several zones",
    types=(CLUSTER, NODE_GROUP, SUBNET, ROUTE, ROUTE_ASSOCIATION),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A node in a public subnet is one security group rule away from the internet, and a cluster in one zone "
    "fails with that zone.",
    fix="Use private subnets, and add zones to network.zones.",
    settings={
        "zones": Setting(
            asks="minimum number of zones of the control plane",
            schema={"type": "integer", "minimum": 2},
            values={"dev": 2, "staging": 2, "prod": 3},
        )
    },
    checks={
        "private": Check(
            asks="must be in private subnets",
            find=_exposed,
            external_ids=("CIS-5.4.3",),
        ),
        "zones": Check(
            asks="must be in enough zones",
            find=_few_zones,
        ),
    },
)

RULES = (PRIVATE_MULTI_AZ,)

"""Where control plane and nodes stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.access import unknowns
from policies.fixtures import Fixture, FixtureResource, with_, without
from policies.levels import Levels
from policies.network import public_subnets, zones
from policies.resource import Resource, Stack
from policies.rule import Check, Context, Problem, Setting, StackRule
from policies.tokens import CLUSTER, INTERNET_GATEWAY, NODE_GROUP, ROUTE, ROUTE_ASSOCIATION, ROUTE_TABLE, SUBNET


def _subnets(resource: Resource) -> list[Resource]:
    return resource.source("vpcConfig" if resource.type == CLUSTER else "subnetIds", SUBNET)


def _exposed(stack: Stack, _: Context) -> Iterator[Problem]:
    public = public_subnets(stack)
    for resource in stack.of(CLUSTER, NODE_GROUP):
        for subnet in _subnets(resource):
            if any(subnet is found for found in public):
                yield Problem(path="", got=f"in {subnet.name}, which is public", at=resource)


def _few_zones(stack: Stack, context: Context) -> Iterator[Problem]:
    for cluster in stack.of(CLUSTER):
        subnets = _subnets(cluster)
        found = zones(subnets)
        unknown = unknowns(subnet["availabilityZone"] for subnet in subnets)
        if subnets and len(found) + unknown < context.settings["zones"]:
            yield Problem(path="vpcConfig.subnetIds", got=f"in {len(found)} zones", at=cluster)


def _subnet(zone: str, *, public: bool = False) -> FixtureResource:
    return FixtureResource(type=SUBNET, props={"availabilityZone": f"us-east-1{zone}", "mapPublicIpOnLaunch": public})


_PLACED: Final[Fixture] = {
    "cluster": FixtureResource(type=CLUSTER, takes={"vpcConfig": ("private-a", "private-b", "private-c")}),
    "group": FixtureResource(type=NODE_GROUP, takes={"subnetIds": ("private-a",)}),
    "private-a": _subnet("a"),
    "private-b": _subnet("b"),
    "private-c": _subnet("c"),
    "public-a": _subnet("a"),
    "internet": FixtureResource(type=INTERNET_GATEWAY),
    "table": FixtureResource(type=ROUTE_TABLE),
    "private-table": FixtureResource(type=ROUTE_TABLE),
    "out": FixtureResource(type=ROUTE, takes={"routeTableId": ("table",), "gatewayId": ("internet",)}),
    "link": FixtureResource(type=ROUTE_ASSOCIATION, takes={"routeTableId": ("table",), "subnetId": ("public-a",)}),
    "private-link": FixtureResource(
        type=ROUTE_ASSOCIATION, takes={"routeTableId": ("private-table",), "subnetId": ("private-a",)}
    ),
}

PRIVATE_MULTI_AZ = StackRule(
    name="eks-private-multi-az",
    title="Control plane and nodes are in private subnets, of several zones",
    types=(CLUSTER, NODE_GROUP, SUBNET, ROUTE, ROUTE_ASSOCIATION),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A node in a public subnet is one rule away from the internet, and one zone's outage takes all of one zone.",
    fix="Give private subnets, and name more network.zones.",
    settings={
        "zones": Setting(
            asks="zones of the control plane at least",
            schema={"type": "integer", "minimum": 2},
            values={"dev": 2, "staging": 2, "prod": 3},
        )
    },
    checks={
        "private": Check(
            asks="must be in private subnets",
            find=_exposed,
            external_ids=("CIS-5.4.3",),
            bad=(
                {**_PLACED, "group": FixtureResource(type=NODE_GROUP, takes={"subnetIds": ("public-a",)})},
                with_(_PLACED, "private-a", "mapPublicIpOnLaunch", True),
            ),
        ),
        "zones": Check(
            asks="must be in enough zones",
            find=_few_zones,
            bad=(
                {**_PLACED, "cluster": FixtureResource(type=CLUSTER, takes={"vpcConfig": ("private-a", "private-b")})},
                with_(_PLACED, "private-c", "availabilityZone", "us-east-1a"),
            ),
        ),
    },
    good=(_PLACED, without(_PLACED, "cluster"), {"cluster": FixtureResource(type=CLUSTER)}),
)

RULES = (PRIVATE_MULTI_AZ,)

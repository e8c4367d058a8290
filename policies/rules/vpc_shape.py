"""Layout of a VPC: CIDR ranges, NAT gateways and VPC endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, ip_network
from itertools import combinations
from typing import Any, Final

from pulumi_policy import Severity

from policies.checks.network import network as network_of
from policies.checks.network import public_subnets, zones
from policies.levels import Levels
from policies.resources.access import Node, texts, unknowns
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import CLUSTER, NAT_GATEWAY, SUBNET, VPC, VPC_ENDPOINT, VPC_RANGE
from policies.rule import Check, Context, Setting, StackRule, Violation, everywhere, violation

_PRIVATE: Final = tuple(
    IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
)
"""RFC 1918, and RFC 6598 for pods."""


def _ranges(stack: Stack) -> list[tuple[Resource, Node, IPv4Network]]:
    places = [(resource, resource["cidrBlock"]) for resource in stack.of(VPC, VPC_RANGE)]
    places += [(resource, resource["kubernetesNetworkConfig"]["serviceIpv4Cidr"]) for resource in stack.of(CLUSTER)]
    return [(at, node, network) for at, node in places if (network := network_of(node)) is not None]


def _public_range(stack: Stack, _: Context) -> Iterator[Violation]:
    for at, node, network in _ranges(stack):
        if not any(network.subnet_of(private) for private in _PRIVATE):
            yield violation(node, at=at)


def _overlapping(stack: Stack, context: Context) -> Iterator[Violation]:
    ranges = _ranges(stack)
    for (_first, node, network), (at, other, second) in combinations(ranges, 2):
        if network.overlaps(second):
            yield violation(other, f"{second}, which overlaps {network} ({node.path})", at)
    for at, node, network in ranges:
        for text in context.settings["reserved"]:
            if network.overlaps(ip_network(text)):
                yield violation(node, f"{network}, which overlaps the reserved {text}", at)


def _gateways(stack: Stack, context: Context) -> Iterator[Violation]:
    wanted = context.settings["nat"]
    gateways = stack.of(NAT_GATEWAY)
    public = public_subnets(stack)
    private = [subnet for subnet in stack.of(SUBNET) if not any(subnet is other for other in public)]
    count, places = len(gateways), len(zones(private))
    undecided = any(subnet[key].unknown for subnet in private for key in ("availabilityZone", "mapPublicIpOnLaunch"))
    if not gateways or undecided:
        return
    if (wanted == "per-zone" and count < places) or (wanted == "single" and count > 1):
        yield Violation(
            path="", got=f"one of {count} NAT gateways for {places} zones; required: {wanted}", at=gateways[0]
        )


def _missing_endpoints(stack: Stack, context: Context) -> Iterator[Violation]:
    names = [endpoint["serviceName"] for endpoint in stack.of(VPC_ENDPOINT)]
    there = texts(names)
    wanted = context.settings["endpoints"]
    missing = [service for service in wanted if not any(name.endswith(f".{service}") for name in there)]
    if len(missing) > unknowns(names):
        for vpc in stack.of(VPC):
            yield Violation(path="", got=f"without endpoints of {', '.join(missing)}", at=vpc)


_DOCKER: Final = "172.17.0.0/16"
"""The bridge network of Docker on nodes (EKS User Guide, "View Amazon EKS networking requirements")."""
_STRINGS: Final[dict[str, Any]] = {"type": "array", "items": {"type": "string"}}

VPC_SHAPE = StackRule(
    name="vpc-shape",
    title="CIDR ranges are private and don't overlap, and traffic to AWS uses VPC endpoints",
    types=(VPC, VPC_RANGE, CLUSTER, SUBNET, NAT_GATEWAY, VPC_ENDPOINT),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="Ranges can't be changed later, and pulls through NAT cost 0.045 USD a GB (EKS Best Practices, Networking).",
    fix="Set network.cidr, podCidr, nat and endpoints of the stack file.",
    settings={
        "reserved": Setting(
            asks="reserved CIDR ranges of other networks", schema=_STRINGS, values=everywhere([_DOCKER])
        ),
        "nat": Setting(
            asks="NAT gateways: one in total, one per zone, or any number",
            schema={"enum": ["single", "per-zone", "any"]},
            values={"dev": "single", "staging": "any", "prod": "per-zone"},
        ),
        "endpoints": Setting(
            asks="AWS services that must have a VPC endpoint",
            schema=_STRINGS,
            values={
                "dev": ["s3"],
                "staging": ["s3", "ecr.api", "ecr.dkr", "sts"],
                "prod": ["s3", "ecr.api", "ecr.dkr", "sts"],
            },
        ),
    },
    checks={
        "private": Check(
            asks="must be a private range",
            find=_public_range,
        ),
        "apart": Check(
            asks="must not overlap another range",
            find=_overlapping,
        ),
        "nat": Check(
            asks="must match the rule's setting",
            find=_gateways,
        ),
        "endpoints": Check(
            asks="must have the required VPC endpoints",
            find=_missing_endpoints,
        ),
    },
)

RULES = (VPC_SHAPE,)

"""Public and private subnets, from the resource graph: a preview knows the graph, but not the IDs."""

from __future__ import annotations

from ipaddress import IPv4Network

from policies.resources.access import Node, WrongTypeError
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import INTERNET_GATEWAY, ROUTE, ROUTE_ASSOCIATION, ROUTE_TABLE, SUBNET


def public_subnets(stack: Stack) -> list[Resource]:
    """Subnets with a route to an internet gateway, or that assign public addresses."""
    routes = [route for route in stack.of(ROUTE) if route.source("gatewayId", INTERNET_GATEWAY)]
    tables = [table for route in routes for table in route.source("routeTableId", ROUTE_TABLE)]
    routed = [
        subnet
        for association in stack.of(ROUTE_ASSOCIATION)
        if any(association.takes_from(table) for table in tables)
        for subnet in association.source("subnetId", SUBNET)
    ]
    return [
        subnet
        for subnet in stack.of(SUBNET)
        if subnet["mapPublicIpOnLaunch"].is_true(default=False) or any(subnet is other for other in routed)
    ]


def network(node: Node) -> IPv4Network | None:
    """A known CIDR range, otherwise None."""
    text = node.text()
    try:
        return IPv4Network(text, strict=False) if text is not None else None
    except ValueError as error:
        raise WrongTypeError(node, "a CIDR range") from error


def zones(subnets: list[Resource]) -> set[str]:
    """Known zones of subnets."""
    return {zone for subnet in subnets if (zone := subnet["availabilityZone"].text()) is not None}

"""Which subnet is which, by what is made from what: ids are unknown in a preview, the graph is not."""

from __future__ import annotations

from ipaddress import IPv4Network

from policies.access import Node, WrongTypeError
from policies.resource import Resource, Stack
from policies.tokens import INTERNET_GATEWAY, ROUTE, ROUTE_ASSOCIATION, ROUTE_TABLE, SUBNET


def public_subnets(stack: Stack) -> list[Resource]:
    """Subnets whose route table leads to an internet gateway, or which give out public addresses."""
    doors = [route for route in stack.of(ROUTE) if route.source("gatewayId", INTERNET_GATEWAY)]
    tables = [table for route in doors for table in route.source("routeTableId", ROUTE_TABLE)]
    led = [
        subnet
        for association in stack.of(ROUTE_ASSOCIATION)
        if any(association.takes_from(table) for table in tables)
        for subnet in association.source("subnetId", SUBNET)
    ]
    return [
        subnet
        for subnet in stack.of(SUBNET)
        if subnet["mapPublicIpOnLaunch"].is_true(default=False) or any(subnet is found for found in led)
    ]


def network(node: Node) -> IPv4Network | None:
    """A known range of addresses, else None."""
    text = node.text()
    try:
        return IPv4Network(text, strict=False) if text is not None else None
    except ValueError as error:
        raise WrongTypeError(node, "a range of addresses") from error


def zones(subnets: list[Resource]) -> set[str]:
    """Known zones of subnets."""
    return {zone for subnet in subnets if (zone := subnet["availabilityZone"].text()) is not None}

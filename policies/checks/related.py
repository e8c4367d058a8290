"""Resources of a stack that belong together: subnets and their routes, what tags select, releases of a chart.

A preview knows the graph, but not the IDs.
"""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from policies.evaluation.iam import parsed
from policies.resources.access import Node, WrongTypeError, plain
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import INTERNET_GATEWAY, RELEASE, ROUTE, ROUTE_ASSOCIATION, ROUTE_TABLE, SUBNET


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


def default_tags(resource: Resource) -> Node:
    """The provider's default tags; arguments of a provider are encoded as JSON."""
    provider: Mapping[str, Any] = resource.provider
    tags = provider["defaultTags"] if "defaultTags" in list(provider) else None
    return parsed(Node("defaultTags", plain(tags)))["tags"]


def node_class_terms(stack: Stack, field: str) -> Iterator[Node]:
    """Terms with which node classes select resources: those of EC2NodeClass (karpenter.k8s.aws) and NodeClass
    (eks.amazonaws.com), where the fields have the same form (Karpenter v1.14.1, EC2NodeClass CRD)."""
    for resource in stack.resources:
        if resource.type.startswith("kubernetes:") and resource.type.endswith("NodeClass"):
            terms = resource["spec"][field]
            yield from [terms] if terms.unknown else terms.items()


def may_select(term: Node, resource: Resource) -> bool:
    """Whether a term selects a resource by `tags` (`*` is any value) and `name`, as far as a preview knows. A term with
    an `id` selects what is not in the program, or refers to it."""
    if term.unknown:
        return True
    defaults = default_tags(resource)
    wanted = [(given, _either(resource["tags"][key], defaults[key])) for key, given in term["tags"].fields().items()]
    if not term["name"].missing:
        wanted.append((term["name"], resource["name"]))
    by_these = term["id"].missing and (bool(wanted) or term["tags"].unknown)
    return by_these and all(given.unknown or has.unknown or given.raw in _matching(has) for given, has in wanted)


def _either(own: Node, default: Node) -> Node:
    return default if own.missing else own


def _matching(has: Node) -> tuple[Any, ...]:
    return () if has.missing else ("*", has.raw)


def releases_of(stack: Stack, chart: str) -> list[Resource]:
    """The releases of a chart, whether it comes from a repository, a registry or a directory."""
    return [release for release in stack.of(RELEASE) if str(release["chart"].raw).rpartition("/")[2] == chart]

"""The VPC: its parts and shape, security groups, and endpoints to the services of AWS."""

from collections.abc import Callable, Iterator
from ipaddress import IPv4Network, ip_network
from itertools import combinations
from typing import Final

from policies.checks.questions import each, false, not_in
from policies.checks.related import may_select, node_class_terms, public_subnets, zones
from policies.checks.related import network as network_of
from policies.evaluation.iam import Statement, limits_the_caller, listed, narrow, statements
from policies.evaluation.ranges import internet
from policies.resources import tokens
from policies.resources.access import Node, texts, unknowns
from policies.resources.resource import Resource, Stack
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation

_ACLS: Final = (tokens.NETWORK_ACL, tokens.DEFAULT_NETWORK_ACL)


def _aws_default(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type == tokens.DEFAULT_VPC:
        yield Violation(path="", got="the account's default VPC")


def _routes(resource: Resource) -> list[Node]:
    """Routes of a table, which may hold them itself, or a resource that is one."""
    if resource.type == tokens.ROUTE_TABLE:
        return [route for route in resource["routes"].items() if route.known]
    return [resource.props] if resource.type == tokens.ROUTE else []


_DESTINATIONS: Final = ("destinationCidrBlock", "destinationIpv6CidrBlock", "cidrBlock", "ipv6CidrBlock")
"""The first two of a resource that is a route, the others of one in a table."""


def _to_everywhere(route: Node) -> list[Node]:
    return list(internet(route[key] for key in _DESTINATIONS))


def _to_an_instance(resource: Resource, _: Context) -> Iterator[Violation]:
    for route in _routes(resource):
        if _to_everywhere(route) and route["networkInterfaceId"].known:
            yield violation(route["networkInterfaceId"])


_TARGETS: Final = (
    "carrierGatewayId", "coreNetworkArn", "egressOnlyGatewayId", "gatewayId", "localGatewayId", "natGatewayId",
    "networkInterfaceId", "transitGatewayId", "vpcEndpointId", "vpcPeeringConnectionId",
)  # fmt: skip


def _two_targets(resource: Resource, _: Context) -> Iterator[Violation]:
    """EC2 takes one (ec2:CreateRoute); which one would decide is not for a review to guess."""
    for route in _routes(resource):
        targets = [key for key in _TARGETS if not route[key].missing]
        if len(targets) > 1:
            yield Violation(path=route[targets[0]].path, got=f"beside {', '.join(targets[1:])}")


def _entries(resource: Resource) -> list[Node]:
    if resource.type == tokens.NETWORK_ACL_RULE:
        return [resource.props] if resource["egress"].is_false(default=False) else []
    return resource["ingress"].items() if resource.type in _ACLS else []


def _open_acl(resource: Resource, _: Context) -> Iterator[Violation]:
    """All ports, or a port of SSH, RDP or FTP, open to all addresses; security groups restrict the rest."""
    for entry in _entries(resource):
        action = entry["action"] if "action" in entry.fields() else entry["ruleAction"]
        allowed = action.missing or action.raw == "allow"
        world = list(internet([entry["cidrBlock"], entry["ipv6CidrBlock"]]))
        if allowed and world and _reaches(entry):
            yield violation(entry, "open to all addresses")


def _reaches(entry: Node) -> bool:
    if entry["protocol"].missing or entry["protocol"].raw in ("-1", "all", -1):
        return True
    low, high = entry["fromPort"].number(), entry["toPort"].number()
    if low is None or high is None:
        return False
    return any(low <= port <= high for port in (20, 21, 22, 3389))


PARTS_CLOSED = ResourceRule(
    name="vpc-parts-closed",
    types=(tokens.SUBNET, tokens.DEFAULT_VPC, *_ACLS, tokens.NETWORK_ACL_RULE, tokens.ROUTE, tokens.ROUTE_TABLE),
    finds={
        "default-vpc": _aws_default,
        "public-address": false("mapPublicIpOnLaunch", tokens.SUBNET),
        "default-route": _to_an_instance,
        "target": _two_targets,
        "acl": _open_acl,
    },
)


def _without_flow_logs(stack: Stack, _: Context) -> Iterator[Violation]:
    for vpc in stack.of(tokens.VPC):
        if not any(log.takes_from(vpc) for log in stack.of(tokens.FLOW_LOG)):
            yield Violation(path="", got="without flow logs", at=vpc)


def _default_group_unmanaged(stack: Stack, _: Context) -> Iterator[Violation]:
    for vpc in stack.of(tokens.VPC):
        if not any(group.takes_from(vpc) for group in stack.of(tokens.DEFAULT_SECURITY_GROUP)):
            yield Violation(
                path="", got="with AWS's default security group, which allows all traffic between its members", at=vpc
            )


_GROUP_RULES: Final = (tokens.SECURITY_GROUP_RULE, tokens.INGRESS_RULE, tokens.EGRESS_RULE)


def _default_rules(stack: Stack, _: Context) -> Iterator[Violation]:
    """Rules of the group itself, and rules that are resources of their own."""
    for group in stack.of(tokens.DEFAULT_SECURITY_GROUP):
        for key in ("ingress", "egress"):
            if group[key].items():
                yield violation(group[key], f"open, with {len(group[key].items())} rules", group)
        for rule in stack.of(*_GROUP_RULES):
            if group in rule.source("securityGroupId", tokens.DEFAULT_SECURITY_GROUP):
                yield Violation(path="", got="a rule of the default security group", at=rule)


def _idle_address(stack: Stack, _: Context) -> Iterator[Violation]:
    for address in stack.of(tokens.EIP):
        used = not address["instance"].missing or not address["networkInterface"].missing
        if not used and not any(other.takes_from(address) for other in stack.resources):
            yield Violation(path="", got="unused, and billed", at=address)


def _unattached_acl(stack: Stack, _: Context) -> Iterator[Violation]:
    for acl in stack.of(tokens.NETWORK_ACL):
        subnets = acl["subnetIds"]
        if subnets.missing or (subnets.known and not subnets.items()):
            yield violation(subnets, at=acl)


_OTHER_TARGETS: Final = (
    "carrierGatewayId", "coreNetworkArn", "egressOnlyGatewayId", "gatewayId", "instanceId", "localGatewayId",
    "natGatewayId", "networkInterfaceId", "transitGatewayId", "vpcEndpointId",
)  # fmt: skip


def _to_a_peer(route: Node) -> bool:
    """Whether a route certainly leads to a peer. A preview may not know of any target in a list of routes whether it is
    set, and the provider says of those that are not that they are empty."""
    peer, others = route["vpcPeeringConnectionId"], [route[other] for other in _OTHER_TARGETS]
    if peer.known:
        return bool(peer.raw)
    return peer.unknown and not any(other.unknown or (other.known and other.raw) for other in others)


def _all_traffic_to_peer(stack: Stack, _: Context) -> Iterator[Violation]:
    for resource in stack.of(tokens.ROUTE, tokens.ROUTE_TABLE):
        for route in _routes(resource):
            if _to_a_peer(route):
                yield from (violation(range_, at=resource) for range_ in _to_everywhere(route))


VPC_BASELINE = StackRule(
    name="vpc-baseline",
    types=(
        tokens.VPC,
        tokens.FLOW_LOG,
        tokens.DEFAULT_SECURITY_GROUP,
        *_GROUP_RULES,
        tokens.EIP,
        tokens.NETWORK_ACL,
        tokens.ROUTE,
        tokens.ROUTE_TABLE,
    ),
    finds={
        "flow-logs": _without_flow_logs,
        "rejected": each(tokens.FLOW_LOG, not_in("trafficType", "ACCEPT")),
        "default-group": _default_group_unmanaged,
        "default-rules": _default_rules,
        "address": _idle_address,
        "acl": _unattached_acl,
        "peering": _all_traffic_to_peer,
    },
)


_RULES: Final = (tokens.SECURITY_GROUP_RULE, tokens.INGRESS_RULE, tokens.EGRESS_RULE)
_MADE_BY_PULUMI: Final = "Managed by Pulumi"  # the description that the AWS provider sets by default
_SELECTORS: Final = ("securityGroupSelectorTerms", "podSecurityGroupSelectorTerms")


def _group_entries(resource: Resource, way: str) -> list[Node]:
    """Rules of one direction, `ingress` or `egress`, wherever they are written."""
    if resource.type == tokens.SECURITY_GROUP:
        return resource[way].items()
    if resource.type == tokens.SECURITY_GROUP_RULE:
        return [resource.props] if resource["type"].raw == way else []
    token = tokens.INGRESS_RULE if way == "ingress" else tokens.EGRESS_RULE
    return [resource.props] if resource.type == token else []


def _ranges(entry: Node) -> list[Node]:
    ranges = [entry["cidrIpv4"], entry["cidrIpv6"]]
    return [node for node in ranges + listed(entry["cidrBlocks"]) + listed(entry["ipv6CidrBlocks"]) if node.known]


def _open(way: str) -> Callable[[Resource, Context], Iterator[Violation]]:
    def find(resource: Resource, _: Context) -> Iterator[Violation]:
        ranges = [node for entry in _group_entries(resource, way) for node in _ranges(entry)]
        yield from (violation(node) for node in internet(ranges))

    return find


def _prefix_list(resource: Resource, _: Context) -> Iterator[Violation]:
    """The owner of a list changes its ranges at any time (VPC User Guide, "Managed prefix lists")."""
    for entry in [*_group_entries(resource, "ingress"), *_group_entries(resource, "egress")]:
        lists = [entry["prefixListId"], *listed(entry["prefixListIds"])]
        yield from (violation(node) for node in lists if node.known)


def _undescribed(resource: Resource, _: Context) -> Iterator[Violation]:
    places = [resource["description"]]
    if resource.type == tokens.SECURITY_GROUP:
        places += [entry["description"] for way in ("ingress", "egress") for entry in resource[way].items()]
    yield from (violation(text) for text in places if text.missing or text.raw in ("", _MADE_BY_PULUMI))


LEAST_OPEN = ResourceRule(
    name="sg-least-open",
    types=(tokens.SECURITY_GROUP, *_RULES),
    finds={
        "ingress": _open("ingress"),
        "egress": _open("egress"),
        "prefix-list": _prefix_list,
        "description": _undescribed,
    },
)


def _unused(stack: Stack, _: Context) -> Iterator[Violation]:
    users = [resource for resource in stack.resources if resource.type not in (*_RULES, tokens.SECURITY_GROUP)]
    selectors = [term for field in _SELECTORS for term in node_class_terms(stack, field)]
    for group in stack.of(tokens.SECURITY_GROUP):
        selected = any(may_select(term, group) for term in selectors)
        if not selected and not any(user.takes_from(group) for user in users):
            yield Violation(path="", got="attached to nothing", at=group)


GROUPS_USED = StackRule(
    name="sg-attached",
    types=(tokens.SECURITY_GROUP,),
    finds={"used": _unused},
)


_PRIVATE: Final = tuple(
    IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
)
"""RFC 1918, and RFC 6598 for pods."""


def _subnet_ranges(stack: Stack) -> list[tuple[Resource, Node, IPv4Network]]:
    places = [(resource, resource["cidrBlock"]) for resource in stack.of(tokens.VPC, tokens.VPC_RANGE)]
    places += [
        (resource, resource["kubernetesNetworkConfig"]["serviceIpv4Cidr"]) for resource in stack.of(tokens.CLUSTER)
    ]
    return [(at, node, network) for at, node in places if (network := network_of(node)) is not None]


def _public_range(stack: Stack, _: Context) -> Iterator[Violation]:
    for at, node, network in _subnet_ranges(stack):
        if not any(network.subnet_of(private) for private in _PRIVATE):
            yield violation(node, at=at)


def _overlapping(stack: Stack, context: Context) -> Iterator[Violation]:
    ranges = _subnet_ranges(stack)
    for (_first, node, network), (at, other, second) in combinations(ranges, 2):
        if network.overlaps(second):
            yield violation(other, f"{second}, which overlaps {network} ({node.path})", at)
    for at, node, network in ranges:
        for text in context.settings["reserved"]:
            if network.overlaps(ip_network(text)):
                yield violation(node, f"{network}, which overlaps the reserved {text}", at)


def _gateways(stack: Stack, context: Context) -> Iterator[Violation]:
    wanted = context.settings["nat"]
    gateways = stack.of(tokens.NAT_GATEWAY)
    public = public_subnets(stack)
    private = [subnet for subnet in stack.of(tokens.SUBNET) if not any(subnet is other for other in public)]
    count, places = len(gateways), len(zones(private))
    undecided = any(subnet[key].unknown for subnet in private for key in ("availabilityZone", "mapPublicIpOnLaunch"))
    if not gateways or undecided:
        return
    if (wanted == "per-zone" and count < places) or (wanted == "single" and count > 1):
        yield Violation(
            path="", got=f"one of {count} NAT gateways for {places} zones; required: {wanted}", at=gateways[0]
        )


def _missing_endpoints(stack: Stack, context: Context) -> Iterator[Violation]:
    names = [endpoint["serviceName"] for endpoint in stack.of(tokens.VPC_ENDPOINT)]
    there = texts(names)
    wanted = context.settings["endpoints"]
    missing = [service for service in wanted if not any(name.endswith(f".{service}") for name in there)]
    if len(missing) > unknowns(names):
        for vpc in stack.of(tokens.VPC):
            yield Violation(path="", got=f"without endpoints of {', '.join(missing)}", at=vpc)


_DOCKER: Final = "172.17.0.0/16"
"""The bridge network of Docker on nodes (EKS User Guide, "View Amazon EKS networking requirements")."""

VPC_SHAPE = StackRule(
    name="vpc-shape",
    types=(tokens.VPC, tokens.VPC_RANGE, tokens.CLUSTER, tokens.SUBNET, tokens.NAT_GATEWAY, tokens.VPC_ENDPOINT),
    settings={
        "reserved": setting("reserved CIDR ranges of other networks", [_DOCKER]),
        "nat": setting(
            "NAT gateways: one in total, one per zone, or any number",
            "single",
            "any",
            "per-zone",
            enum=["single", "per-zone", "any"],
        ),
        "endpoints": setting(
            "AWS services that must have a VPC endpoint",
            ["s3"],
            ["s3", "ecr.api", "ecr.dkr", "sts"],
            ["s3", "ecr.api", "ecr.dkr", "sts"],
        ),
    },
    finds={
        "private": _public_range,
        "apart": _overlapping,
        "nat": _gateways,
        "endpoints": _missing_endpoints,
    },
)


_OWNERS: Final = ("aws:resourceaccount", "aws:resourceorgid", "aws:resourceorgpaths")


def _for_everything(statement: Statement) -> bool:
    anybody = any(who.raw == "*" for who in statement.principals("AWS")) or not statement.node["NotPrincipal"].missing
    owned = narrow(statement, lambda key: key in _OWNERS)
    return statement.allows and anybody and statement.everywhere and not owned and not limits_the_caller(statement)


def _unlimited(endpoint: Resource, _: Context) -> Iterator[Violation]:
    """Without a policy AWS sets one that allows everything (PrivateLink Guide, "Control access to VPC endpoints using
    endpoint policies"); one that is written down and says the same replaces a narrower one."""
    if any(map(_for_everything, statements(endpoint["policy"]))):
        yield violation(endpoint["policy"], "allowing everybody everything, buckets of other accounts included")


ENDPOINTS = ResourceRule(
    name="endpoint-policy-narrow",
    types=(tokens.VPC_ENDPOINT,),
    finds={"limit": _unlimited},
)


def _by_web(subscription: Resource, context: Context) -> Iterator[Violation]:
    """Other protocols name an address of the stack file or a resource, whose account `accounts-known` compares."""
    endpoint = subscription["endpoint"]
    if subscription["protocol"].raw in ("http", "https") and endpoint.is_not(*context.settings["addresses"]):
        yield violation(endpoint)


SUBSCRIBERS = ResourceRule(
    name="subscribers-listed",
    types=(tokens.TOPIC_SUBSCRIPTION,),
    settings={"addresses": setting("https addresses that may get messages of a topic", [])},
    finds={"address": _by_web},
)

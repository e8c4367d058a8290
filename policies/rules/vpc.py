"""Parts of a VPC: insecure defaults, flow logs and unused resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.evaluation.ranges import internet
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import (
    DEFAULT_NETWORK_ACL,
    DEFAULT_SECURITY_GROUP,
    DEFAULT_VPC,
    EGRESS_RULE,
    EIP,
    FLOW_LOG,
    INGRESS_RULE,
    NETWORK_ACL,
    NETWORK_ACL_RULE,
    ROUTE,
    ROUTE_TABLE,
    SECURITY_GROUP_RULE,
    SUBNET,
    VPC,
)
from policies.rule import Check, Context, ResourceRule, StackRule, Violation, violation

_ACLS: Final = (NETWORK_ACL, DEFAULT_NETWORK_ACL)


def _aws_default(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type == DEFAULT_VPC:
        yield Violation(path="", got="the account's default VPC")


def _public_by_default(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type == SUBNET and (flag := resource["mapPublicIpOnLaunch"]).is_true(default=False):
        yield violation(flag)


def _routes(resource: Resource) -> list[Node]:
    """Routes of a table, which may hold them itself, or a resource that is one."""
    if resource.type == ROUTE_TABLE:
        return [route for route in resource["routes"].items() if route.known]
    return [resource.props] if resource.type == ROUTE else []


_DESTINATIONS: Final = ("destinationCidrBlock", "destinationIpv6CidrBlock", "cidrBlock", "ipv6CidrBlock")
"""The first two of a resource that is a route, the others of one in a table."""


def _to_everywhere(route: Node) -> list[Node]:
    return list(internet(route[key] for key in _DESTINATIONS))


def _to_an_instance(resource: Resource, _: Context) -> Iterator[Violation]:
    for route in _routes(resource):
        if _to_everywhere(route) and route["networkInterfaceId"].known:
            yield violation(route["networkInterfaceId"])


_TARGETS: Final = (
    "carrierGatewayId",
    "coreNetworkArn",
    "egressOnlyGatewayId",
    "gatewayId",
    "localGatewayId",
    "natGatewayId",
    "networkInterfaceId",
    "transitGatewayId",
    "vpcEndpointId",
    "vpcPeeringConnectionId",
)


def _two_targets(resource: Resource, _: Context) -> Iterator[Violation]:
    """EC2 takes one (ec2:CreateRoute); which one would decide is not for a review to guess."""
    for route in _routes(resource):
        targets = [key for key in _TARGETS if not route[key].missing]
        if len(targets) > 1:
            yield Violation(path=route[targets[0]].path, got=f"beside {', '.join(targets[1:])}")


def _entries(resource: Resource) -> list[Node]:
    if resource.type == NETWORK_ACL_RULE:
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
    title="Insecure AWS defaults of VPCs are not used",
    types=(SUBNET, DEFAULT_VPC, *_ACLS, NETWORK_ACL_RULE, ROUTE, ROUTE_TABLE),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Default VPCs, default security groups and automatic public addresses expose resources unintentionally.",
    fix="Use the network component: its subnets assign no public addresses, and its default security group is empty.",
    checks={
        "default-vpc": Check(
            asks="must not be used",
            find=_aws_default,
            external_ids=("CKV_AWS_148", "AVD-AWS-0101"),
        ),
        "public-address": Check(
            asks="must be false",
            find=_public_by_default,
            external_ids=("CKV_AWS_130", "AVD-AWS-0164"),
        ),
        "default-route": Check(
            asks="must not be set on a default route; use a gateway",
            find=_to_an_instance,
            external_ids=("CKV2_AWS_35",),
        ),
        "target": Check(
            asks="must be the only target of a route",
            find=_two_targets,
        ),
        "acl": Check(
            asks="must limit networks or ports",
            find=_open_acl,
            external_ids=(
                "CKV_AWS_229",
                "CKV_AWS_230",
                "CKV_AWS_231",
                "CKV_AWS_232",
                "CKV_AWS_352",
                "AVD-AWS-0102",
                "AVD-AWS-0105",
            ),
        ),
    },
)


def _without_flow_logs(stack: Stack, _: Context) -> Iterator[Violation]:
    for vpc in stack.of(VPC):
        if not any(log.takes_from(vpc) for log in stack.of(FLOW_LOG)):
            yield Violation(path="", got="without flow logs", at=vpc)


def _accepted_only(stack: Stack, _: Context) -> Iterator[Violation]:
    for log in stack.of(FLOW_LOG):
        if log["trafficType"].raw == "ACCEPT":
            yield violation(log["trafficType"], at=log)


def _default_group_unmanaged(stack: Stack, _: Context) -> Iterator[Violation]:
    for vpc in stack.of(VPC):
        if not any(group.takes_from(vpc) for group in stack.of(DEFAULT_SECURITY_GROUP)):
            yield Violation(
                path="", got="with AWS's default security group, which allows all traffic between its members", at=vpc
            )


_GROUP_RULES: Final = (SECURITY_GROUP_RULE, INGRESS_RULE, EGRESS_RULE)


def _default_rules(stack: Stack, _: Context) -> Iterator[Violation]:
    """Rules of the group itself, and rules that are resources of their own."""
    for group in stack.of(DEFAULT_SECURITY_GROUP):
        for key in ("ingress", "egress"):
            if group[key].items():
                yield violation(group[key], f"open, with {len(group[key].items())} rules", group)
        for rule in stack.of(*_GROUP_RULES):
            if group in rule.source("securityGroupId", DEFAULT_SECURITY_GROUP):
                yield Violation(path="", got="a rule of the default security group", at=rule)


def _idle_address(stack: Stack, _: Context) -> Iterator[Violation]:
    for address in stack.of(EIP):
        used = not address["instance"].missing or not address["networkInterface"].missing
        if not used and not any(other.takes_from(address) for other in stack.resources):
            yield Violation(path="", got="unused, and billed", at=address)


def _unattached_acl(stack: Stack, _: Context) -> Iterator[Violation]:
    for acl in stack.of(NETWORK_ACL):
        subnets = acl["subnetIds"]
        if subnets.missing or (subnets.known and not subnets.items()):
            yield violation(subnets, at=acl)


def _all_traffic_to_peer(stack: Stack, _: Context) -> Iterator[Violation]:
    for resource in stack.of(ROUTE, ROUTE_TABLE):
        for route in _routes(resource):
            if not route["vpcPeeringConnectionId"].missing:
                yield from (violation(range_, at=resource) for range_ in _to_everywhere(route))


VPC_BASELINE = StackRule(
    name="vpc-baseline",
    title="VPCs have flow logs, a managed default security group and no unused resources",
    types=(VPC, FLOW_LOG, DEFAULT_SECURITY_GROUP, *_GROUP_RULES, EIP, NETWORK_ACL, ROUTE, ROUTE_TABLE),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Flow logs show past connections to an investigation; unused resources cost money or are reused "
    "unintentionally.",
    fix="Use the network component with flowLogs.enabled.",
    checks={
        "flow-logs": Check(
            asks="must have flow logs",
            find=_without_flow_logs,
            external_ids=("CKV2_AWS_11", "AVD-AWS-0178"),
        ),
        "rejected": Check(
            asks="must include rejected connections",
            find=_accepted_only,
        ),
        "default-group": Check(
            asks="must have its default security group managed by the stack",
            find=_default_group_unmanaged,
            external_ids=("CKV2_AWS_12",),
        ),
        "default-rules": Check(
            asks="must be empty",
            find=_default_rules,
            external_ids=("CKV2_AWS_12", "AVD-AWS-0173"),
        ),
        "address": Check(
            asks="must be attached",
            find=_idle_address,
            external_ids=("CKV2_AWS_19",),
        ),
        "acl": Check(
            asks="must name its subnets",
            find=_unattached_acl,
            external_ids=("CKV2_AWS_1",),
        ),
        "peering": Check(
            asks="must be the networks of the peer only",
            find=_all_traffic_to_peer,
            external_ids=("CKV2_AWS_44",),
        ),
    },
)

RULES = (PARTS_CLOSED, VPC_BASELINE)

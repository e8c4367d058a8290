"""An existing VPC as AWS describes it, held against what a cluster needs of it.

The program fills it from the provider's look-ups at each preview, `slipway doctor --aws` from the EC2 API.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Final

from spec.naming import zone_letter
from spec.settings.environment import Account
from spec.settings.existing import KEYS
from spec.settings.network import Nat, Network
from spec.settings.pools import Pool
from spec.settings.problems import Problem
from spec.settings.zones import addresses_needed
from spec.subnets import AWS_RESERVED

PATH: Final = "network.existing"
PROPAGATED: Final = "propagated"
CNI_TAG: Final = "kubernetes.io/role/cni"
BALANCER_TAGS: Final = {"private": "kubernetes.io/role/internal-elb", "public": "kubernetes.io/role/elb"}
"""The AWS Load Balancer Controller takes subnets of the whole VPC that have the tag, and others only if none has it
(AWS Load Balancer Controller 3.5, "Subnet Auto-Discovery", read 2026-11)."""
FREE: Final = 6
"""Free addresses that EKS needs in each subnet of the cluster (EKS User Guide, "View Amazon EKS networking requirements
for VPC and subnets", read 2026-11)."""


@dataclass(frozen=True, kw_only=True)
class Subnet:
    """A subnet."""

    id: str  # `subnet-...`
    vpc: str  # ID of its VPC
    zone: str  # name of its Availability Zone
    cidr: IPv4Network  # its range
    free: int  # addresses that are not in use
    tags: Mapping[str, str]  # its tags
    table: str  # ID of its route table, its own or the VPC's main one
    default_route: str
    """Target of the route to 0.0.0.0/0 there, `nat-...` or `tgw-...`; `propagated` for one that a virtual private
    gateway propagates; empty if there is none, or if the target no longer exists."""


@dataclass(frozen=True, kw_only=True)
class Vpc:
    """A VPC."""

    id: str  # `vpc-...`
    owner: str  # account of its owner, which shares it with others through AWS RAM
    ranges: tuple[IPv4Network, ...]  # its primary and secondary ranges
    dns_support: bool  # whether the VPC's resolver answers
    dns_hostnames: bool  # whether names of private hosted zones are resolved, with `dns_support`
    subnets: Mapping[str, Mapping[str, Subnet]]  # subnets by kind and zone: `subnets["private"]["us-east-1a"]`
    endpoints: Mapping[str, bool] = field(default_factory=dict)
    """Whether each of its interface endpoints has private DNS, by the service's name without its domain."""
    s3_tables: frozenset[str] = frozenset()  # route tables with the gateway endpoint of S3
    pods_elsewhere: tuple[str, ...] = ()  # other subnets in which the VPC CNI would look for addresses of pods


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a stack needs of its network."""

    account: str  # the stack's account
    addresses: Mapping[str, int]  # addresses by zone letter, with all pools at their maximum
    balancers: bool  # whether the cluster makes load balancers
    vpc: str = ""  # VPC of a cluster that exists
    subnets: tuple[str, ...] = ()  # subnets of its control plane


def needs_of(network: Network, pools: Mapping[str, Pool], account: Account, *, balancers: bool) -> Needs:
    """What a stack needs of its network."""
    letters = [zone_letter(zone) for zone in network.zones]
    return Needs(
        account=account.id,
        addresses={letter: addresses_needed(letter, network, pools, account) for letter in letters},
        balancers=balancers,
    )


def problems(network: Network, vpc: Vpc, needs: Needs) -> Iterator[Problem]:
    """Everything about an existing VPC that a cluster can't use."""
    yield from _vpc(network, vpc, needs)
    for kind, by_zone in vpc.subnets.items():
        for zone, subnet in by_zone.items():
            yield from _place(network, vpc, kind, zone, subnet)
            yield from _tags(network, kind, subnet, needs)
            yield from _routes(network, vpc, kind, subnet)
    yield from _addresses(network, vpc, needs)
    yield from _endpoints(network, vpc)


def _vpc(network: Network, vpc: Vpc, needs: Needs) -> Iterator[Problem]:
    for key, cidr in (("cidr", network.cidr), ("podCidr", network.pod_cidr)):
        if cidr is not None and not any(cidr.subnet_of(one) for one in vpc.ranges):
            rule = f"the range must be within those of {vpc.id}"
            yield Problem(f"network.{key}", rule, str(cidr), f"Use {' or '.join(map(str, vpc.ranges))}.")
    if needs.vpc and vpc.id != needs.vpc:
        yield Problem(f"{PATH}.vpc", f"the cluster is in {needs.vpc}", vpc.id, "Remove it, or name that VPC.")
    for on, name in ((vpc.dns_support, "enableDnsSupport"), (vpc.dns_hostnames, "enableDnsHostnames")):
        if not on:
            rule = "private endpoints of EKS and of AWS services need the VPC's DNS"
            yield Problem(f"{PATH}.vpc", rule, f"{name} of {vpc.id} is false", "Let its owner turn it on.")
    if vpc.owner != needs.account and network.flow_logs.enabled:
        rule = f"only the owner of a shared VPC, account {vpc.owner}, can record its flow logs"
        yield Problem("network.flowLogs.enabled", rule, True, "Set it to false.")


def _place(network: Network, vpc: Vpc, kind: str, zone: str, subnet: Subnet) -> Iterator[Problem]:
    path = f"{PATH}.{KEYS[kind]}"
    if subnet.vpc != vpc.id:
        yield Problem(path, f"the subnet must be in {vpc.id}", f"{subnet.id} is in {subnet.vpc}", "Name another.")
    if subnet.zone != zone:
        yield Problem(path, f"the subnet must be in {zone}", f"{subnet.id} is in {subnet.zone}", "Name another.")
    within, key = (network.pod_cidr, "podCidr") if kind == "pods" else (network.cidr, "cidr")
    if kind != "public" and within is not None and not subnet.cidr.subnet_of(within):
        # Security groups and NetworkPolicies admit this range.
        rule = f"the subnet must be within network.{key} ({within})"
        yield Problem(path, rule, f"{subnet.id} has {subnet.cidr}", f"Change network.{key}, or name another subnet.")
    if subnet.free < FREE and kind == "private":
        rule = f"EKS needs {FREE} free addresses in each subnet"
        yield Problem(path, rule, f"{subnet.id} has {subnet.free}", "Free some, or name another subnet.")


def _tags(network: Network, kind: str, subnet: Subnet, needs: Needs) -> Iterator[Problem]:
    path, wanted = f"{PATH}.{KEYS[kind]}", dict[str, tuple[tuple[str, ...], str]]()
    if needs.balancers and kind in BALANCER_TAGS:
        wanted[BALANCER_TAGS[kind]] = (("1", ""), "load balancers find subnets by tags")
    if network.pod_cidr is not None and kind != "public":
        wanted[CNI_TAG] = (("1",) if kind == "pods" else ("0",), "the VPC CNI finds subnets for pods by tags")
    for key, (values, why) in wanted.items():
        if subnet.tags.get(key) not in values:
            given = f"{subnet.id} has {key}={subnet.tags[key]}" if key in subnet.tags else f"{subnet.id} lacks {key}"
            fix = f"aws ec2 create-tags --resources {subnet.id} --tags Key={key},Value={values[0]}"
            yield Problem(path, why, given, f"Run `{fix}`.")


def _routes(network: Network, vpc: Vpc, kind: str, subnet: Subnet) -> Iterator[Problem]:
    path, target = f"{PATH}.{KEYS[kind]}", subnet.default_route
    given = f"{subnet.id} has {f'a route to {target}' if target else 'none'}"
    if kind == "public":
        if not target.startswith("igw-"):
            rule = "a public subnet needs a default route to an internet gateway"
            yield Problem(path, rule, given, "Name another subnet, or add the route.")
    elif target.startswith("igw-"):
        rule = "nodes have no public addresses, so an internet gateway is no route for them"
        yield Problem(path, rule, given, "Name subnets with a route to a NAT or transit gateway.")
    elif network.nat is not Nat.NONE and not target:
        rule = "nodes need a default route, such as one to a NAT gateway"
        yield Problem(path, rule, given, "Add the route, or set network.nat: none and name the endpoints.")
    elif network.nat is Nat.NONE and kind == "private" and subnet.table not in vpc.s3_tables:
        rule = "without NAT, nodes need the gateway endpoint of S3: image layers are there"
        yield Problem(path, rule, f"{subnet.table} of {subnet.id} has none", "Add the endpoint to the route table.")


def _addresses(network: Network, vpc: Vpc, needs: Needs) -> Iterator[Problem]:
    kind = "pods" if network.pod_cidr is not None else "private"
    for zone, subnet in vpc.subnets[kind].items():
        needed, size = needs.addresses[zone_letter(zone)], subnet.cidr.num_addresses - AWS_RESERVED
        if needed > size:
            rule = f"zone {zone} needs {needed} pod addresses with all pools at their maximum"
            fix = "Name larger subnets, add podSubnets, or lower max or maxPods of the largest pools."
            yield Problem(f"{PATH}.{KEYS[kind]}", rule, f"{subnet.id} has {size}", fix)


def _endpoints(network: Network, vpc: Vpc) -> Iterator[Problem]:
    for position, name in enumerate(network.endpoints):
        if not vpc.endpoints.get(name):
            rule = f"{vpc.id} must have the interface endpoint, with private DNS"
            given = f"{name}, without private DNS" if name in vpc.endpoints else str(name)
            yield Problem(f"network.endpoints.{position}", rule, given, "Let its owner add it, or remove the entry.")
    if vpc.pods_elsewhere and network.pod_cidr is None:
        rule = f"the VPC CNI would give pods addresses of other subnets that have the tag {CNI_TAG}=1"
        fix = "Name them as podSubnets with their range as network.podCidr, or remove the tag."
        yield Problem(f"{PATH}.privateSubnets", rule, ", ".join(vpc.pods_elsewhere), fix)


def warnings(network: Network, vpc: Vpc, needs: Needs) -> Iterator[Problem]:
    """What costs money or fails later."""
    private = vpc.subnets["private"]
    costly = [subnet.id for subnet in private.values() if subnet.table not in vpc.s3_tables]
    if costly and network.nat is not Nat.NONE:
        rule = "without the gateway endpoint of S3, data and image layers pass the NAT gateway, which bills them"
        yield Problem(f"{PATH}.privateSubnets", rule, ", ".join(costly), "The endpoint is free: let the owner add it.")
    for zone, subnet in vpc.subnets["pods" if network.pod_cidr is not None else "private"].items():
        needed = needs.addresses[zone_letter(zone)]
        if subnet.free < needed <= subnet.cidr.num_addresses - AWS_RESERVED:
            rule = f"zone {zone} needs {needed} addresses with all pools at their maximum, less what the stack has now"
            fix = "Let others leave the subnet, or name a larger one."
            yield Problem(f"{PATH}.privateSubnets", rule, f"{subnet.id} has {subnet.free} free", fix)

"""Makes the VPC that `network.existing` describes in the sandbox, with the IDs and tags of the settings.

It is a VPC in which everything is right. To rehearse one in which something is wrong, change it with the AWS CLI in a
shell of the sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any, Final

from sandbox.aws.moto.server import TAG
from spec.settings.existing import Existing, ExistingSubnets
from spec.settings.found import BALANCER_TAGS, CNI_TAG
from spec.settings.network import Nat, Network

_ANYWHERE: Final = "0.0.0.0/0"


@dataclass(frozen=True)
class Made:
    """The VPC, its subnets, and whether it was made just now."""

    vpc: str
    subnets: tuple[str, ...]
    new: bool


def make(ec2: Any, network: Network, region: str) -> Made:
    """Make the VPC unless it exists.

    Args:
        ec2: boto3 client of EC2 on the sandbox, in the stack's account and Region.
        network: Settings with `existing`.
        region: The Region, for the names of endpoint services.

    Raises:
        ValueError: The settings name no existing VPC.
        ClientError: The emulator refuses a part, such as a range that is too small to divide.
    """
    if network.existing is None:
        msg = "network.existing is not set"
        raise ValueError(msg)
    return _Maker(ec2, network, network.existing, region).make()


class _Maker:
    def __init__(self, ec2: Any, network: Network, existing: Existing, region: str) -> None:
        self._ec2, self._network, self._existing, self._region = ec2, network, existing, region

    def make(self) -> Made:
        named = self._existing.vpc
        filters = [{"Name": "vpc-id", "Values": [named.id]}] if named.id else _filters(named.tags)
        there = self._ec2.describe_vpcs(Filters=filters)["Vpcs"]
        if there:
            vpc = there[0]["VpcId"]
            found = self._ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Subnets"]
            return Made(vpc, tuple(one["SubnetId"] for one in found), new=False)
        vpc = self._vpc()
        subnets = dict(self._subnets(vpc))
        self._routes(vpc, subnets)
        self._endpoints(vpc, subnets)
        return Made(vpc, tuple(subnets.values()), new=True)

    def _vpc(self) -> str:
        named, network = self._existing.vpc, self._network
        tags = _tags("vpc", named.tags, named.id)
        vpc = str(self._ec2.create_vpc(CidrBlock=str(network.cidr), TagSpecifications=tags)["Vpc"]["VpcId"])
        if network.pod_cidr is not None:
            self._ec2.associate_vpc_cidr_block(VpcId=vpc, CidrBlock=str(network.pod_cidr))
        self._ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsSupport={"Value": True})
        self._ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
        return vpc

    def _subnets(self, vpc: str) -> Iterator[tuple[tuple[str, str], str]]:
        """IDs by kind and zone. NAT gateways need a public subnet, whether or not the settings name any."""
        zones = sorted(self._network.zones)
        parts = _divided(self._network.cidr, len(zones))
        ranges = {"private": parts[:-1], "public": _divided(parts[-1], len(zones))}
        if self._network.pod_cidr is not None:
            ranges["pods"] = _divided(self._network.pod_cidr, len(zones))
        for kind, cidrs in ranges.items():
            named = self._existing.kinds.get(kind, ExistingSubnets())
            for zone, cidr in zip(zones, cidrs, strict=False):
                tags = _tags("subnet", {**self._role(kind), **named.tags}, named.ids.get(zone))
                made = self._ec2.create_subnet(
                    VpcId=vpc, CidrBlock=str(cidr), AvailabilityZone=zone, TagSpecifications=tags
                )
                yield (kind, zone), made["Subnet"]["SubnetId"]

    def _role(self, kind: str) -> dict[str, str]:
        """Tags by which load balancers and the VPC CNI find subnets."""
        of_balancers = {BALANCER_TAGS[kind]: "1"} if kind in BALANCER_TAGS else {}
        shared = self._network.pod_cidr is None or kind == "public"
        return of_balancers if shared else {**of_balancers, CNI_TAG: "1" if kind == "pods" else "0"}

    def _routes(self, vpc: str, subnets: Mapping[tuple[str, str], str]) -> None:
        gateway = self._ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        self._ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
        public = self._table(vpc)
        self._ec2.create_route(RouteTableId=public, DestinationCidrBlock=_ANYWHERE, GatewayId=gateway)
        private = self._table(vpc)
        if self._network.nat is not Nat.NONE:
            address = self._ec2.allocate_address(Domain="vpc")["AllocationId"]
            first = next(id for (kind, _), id in subnets.items() if kind == "public")
            nat = self._ec2.create_nat_gateway(SubnetId=first, AllocationId=address)["NatGateway"]["NatGatewayId"]
            self._ec2.create_route(RouteTableId=private, DestinationCidrBlock=_ANYWHERE, NatGatewayId=nat)
        for (kind, _), subnet in subnets.items():
            self._ec2.associate_route_table(RouteTableId=public if kind == "public" else private, SubnetId=subnet)
        service = f"com.amazonaws.{self._region}.s3"
        self._ec2.create_vpc_endpoint(
            VpcId=vpc, ServiceName=service, VpcEndpointType="Gateway", RouteTableIds=[private]
        )

    def _endpoints(self, vpc: str, subnets: Mapping[tuple[str, str], str]) -> None:
        private = [id for (kind, _), id in subnets.items() if kind == "private"]
        for name in self._network.endpoints:
            self._ec2.create_vpc_endpoint(
                VpcId=vpc, ServiceName=f"com.amazonaws.{self._region}.{name}", VpcEndpointType="Interface",
                SubnetIds=private, PrivateDnsEnabled=True,
            )  # fmt: skip

    def _table(self, vpc: str) -> str:
        return str(self._ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"])


def _divided(cidr: IPv4Network, parts: int) -> list[IPv4Network]:
    """At least one part more than asked for, all of the same size."""
    return list(cidr.subnets(prefixlen_diff=parts.bit_length()))


def _tags(kind: str, tags: Mapping[str, str], id: str | None) -> list[dict[str, Any]]:
    wanted = {**tags, **({TAG: id} if id else {})}
    pairs = [{"Key": key, "Value": value} for key, value in wanted.items()]
    return [{"ResourceType": kind, "Tags": pairs}] if pairs else []


def _filters(tags: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"Name": f"tag:{key}", "Values": [value]} for key, value in tags.items()]

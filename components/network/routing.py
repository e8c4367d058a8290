"""Subnets by zone letter (private ones for nodes, small public ones for NAT and load balancers, and ones for pods only)
and their routes.

How pods get addresses of their own CIDR: the VPC CNI looks for subnets in the node's zone that are tagged
`kubernetes.io/role/cni`, and creates further network interfaces there (`ENABLE_SUBNET_DISCOVERY`, on by default since
v1.18). It fills the node's first interface first, which holds 110 pods with prefix delegation, so pods would rarely use
their CIDR (aws/amazon-vpc-cni-k8s#2959); the value `0` on the nodes' subnets keeps pods out of them (#3380 and #3647,
in v1.22, 2026-05).

Every zone has its own route table in every NAT mode, so that a change of the mode changes one route per zone and
replaces nothing. Routes are separate resources: a table with inline routes would conflict with routes that others add.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Final

import pulumi
import pulumi_aws as aws

from spec.settings.network import Nat
from spec.subnets import ZoneRanges

CNI_TAG: Final = "kubernetes.io/role/cni"
DISCOVERY_TAG: Final = "karpenter.sh/discovery"
"""Karpenter finds subnets by this tag (Karpenter v1, EC2NodeClass `subnetSelectorTerms`)."""
INTERNAL_LOAD_BALANCERS: Final = {"kubernetes.io/role/internal-elb": "1"}
INTERNET_LOAD_BALANCERS: Final = {"kubernetes.io/role/elb": "1"}
"""Load balancers find subnets by these tags (EKS User Guide, "Subnet tagging"). The installed versions don't need the
older tag `kubernetes.io/cluster/<name>` (AWS Load Balancer Controller since v2.1.2)."""


@dataclass(frozen=True, kw_only=True)
class SubnetsArgs:
    """Inputs of `Subnets`.

    Attributes:
        vpc_id: The VPC.
        pods_vpc_id: The VPC ID once the VPC has the CIDR of pods; None if pods share the nodes' subnets.
        ranges: CIDRs by zone letter.
        zones: Zone name by zone letter.
        cluster_name: EKS cluster of the subnets, for their names and Karpenter's tag.
    """

    vpc_id: pulumi.Input[str]
    pods_vpc_id: pulumi.Input[str] | None
    ranges: Mapping[str, ZoneRanges]
    zones: Mapping[str, str]
    cluster_name: str


class Subnets(pulumi.ComponentResource):
    """Subnets of a network, each in one zone; none assigns public addresses."""

    PULUMI_TYPE: Final = "slipway:network:Subnets"

    private: Mapping[str, aws.ec2.Subnet]
    public: Mapping[str, aws.ec2.Subnet]
    pods: Mapping[str, aws.ec2.Subnet]

    def __init__(self, name: str, args: SubnetsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        self.private = {
            letter: self._subnet("private", letter, ranges.private, args.vpc_id, self._node_tags())
            for letter, ranges in args.ranges.items()
        }
        self.public = {
            letter: self._subnet("public", letter, ranges.public, args.vpc_id, INTERNET_LOAD_BALANCERS)
            for letter, ranges in args.ranges.items()
        }
        self.pods = {
            letter: self._subnet("pods", letter, ranges.pods, args.pods_vpc_id, {CNI_TAG: "1"})
            for letter, ranges in args.ranges.items()
            if ranges.pods is not None and args.pods_vpc_id is not None
        }
        self.register_outputs({})

    def _node_tags(self) -> dict[str, str]:
        tags = {DISCOVERY_TAG: self._args.cluster_name, **INTERNAL_LOAD_BALANCERS}
        return tags if self._args.pods_vpc_id is None else {**tags, CNI_TAG: "0"}

    def _subnet(
        self, kind: str, letter: str, cidr: IPv4Network, vpc_id: pulumi.Input[str], tags: Mapping[str, str]
    ) -> aws.ec2.Subnet:
        return aws.ec2.Subnet(
            f"{self._name}-{kind}-{letter}",
            vpc_id=vpc_id,
            cidr_block=str(cidr),
            availability_zone=self._args.zones[letter],
            map_public_ip_on_launch=False,
            tags={"Name": f"{self._args.cluster_name}-{kind}-{letter}", **tags},
            opts=pulumi.ResourceOptions(parent=self),
        )


ANYWHERE: Final = "0.0.0.0/0"


@dataclass(frozen=True, kw_only=True)
class RoutingArgs:
    """Inputs of `Routing`.

    Attributes:
        vpc_id: The VPC.
        subnets: Its subnets.
        nat: How private subnets reach the internet.
        cluster_name: EKS cluster of the network, for `Name` tags.
    """

    vpc_id: pulumi.Input[str]
    subnets: Subnets
    nat: Nat
    cluster_name: str


class Routing(pulumi.ComponentResource):
    """Routes of a network.

    Attributes:
        private_tables: Route tables of private and pod subnets, by zone letter.
        ready: Routes and associations that a node in a private subnet needs for outbound connections.
    """

    PULUMI_TYPE: Final = "slipway:network:Routing"

    private_tables: Mapping[str, aws.ec2.RouteTable]
    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: RoutingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        gateway = aws.ec2.InternetGateway(
            f"{name}-internet", vpc_id=args.vpc_id, tags={"Name": args.cluster_name}, opts=self._child
        )
        public = self._public(gateway)
        nats = self._nats([gateway, *public])
        self.private_tables = {letter: self._table(f"private-{letter}") for letter in args.subnets.private}
        self.ready = [*self._private_routes(nats), *self._private_associations()]
        self.register_outputs({})

    def _public(self, gateway: aws.ec2.InternetGateway) -> list[pulumi.Resource]:
        table = self._table("public")
        route = aws.ec2.Route(
            f"{self._name}-public-default",
            route_table_id=table.id,
            destination_cidr_block=ANYWHERE,
            gateway_id=gateway.id,
            opts=self._child,
        )
        return [route, *(self._associate("public", key, table, net) for key, net in self._args.subnets.public.items())]

    def _nats(self, internet: Sequence[pulumi.Resource]) -> dict[str, aws.ec2.NatGateway]:
        """NAT gateways by zone letter: none, one in the first zone, or one in each zone."""
        letters = sorted(self._args.subnets.public)
        chosen = {Nat.NONE: [], Nat.SINGLE: letters[:1], Nat.PER_ZONE: letters}[self._args.nat]
        return {letter: self._nat(letter, internet) for letter in chosen}

    def _nat(self, letter: str, internet: Sequence[pulumi.Resource]) -> aws.ec2.NatGateway:
        tags = {"Name": f"{self._args.cluster_name}-nat-{letter}"}
        address = aws.ec2.Eip(f"{self._name}-nat-address-{letter}", domain="vpc", tags=tags, opts=self._child)
        return aws.ec2.NatGateway(
            f"{self._name}-nat-{letter}",
            allocation_id=address.id,
            subnet_id=self._args.subnets.public[letter].id,
            tags=tags,
            # A NAT gateway may fail while its subnet has no route to the internet.
            opts=pulumi.ResourceOptions(parent=self, depends_on=internet),
        )

    def _private_routes(self, nats: Mapping[str, aws.ec2.NatGateway]) -> list[pulumi.Resource]:
        if not nats:
            return []
        shared = nats[min(nats)]
        return [
            aws.ec2.Route(
                f"{self._name}-private-default-{letter}",
                route_table_id=table.id,
                destination_cidr_block=ANYWHERE,
                nat_gateway_id=nats.get(letter, shared).id,
                opts=self._child,
            )
            for letter, table in self.private_tables.items()
        ]

    def _private_associations(self) -> list[pulumi.Resource]:
        subnets = self._args.subnets
        return [
            self._associate(kind, letter, self.private_tables[letter], subnet)
            for kind, group in (("private", subnets.private), ("pods", subnets.pods))
            for letter, subnet in group.items()
        ]

    def _table(self, key: str) -> aws.ec2.RouteTable:
        tags = {"Name": f"{self._args.cluster_name}-{key}"}
        return aws.ec2.RouteTable(f"{self._name}-{key}", vpc_id=self._args.vpc_id, tags=tags, opts=self._child)

    def _associate(
        self, kind: str, letter: str, table: aws.ec2.RouteTable, subnet: aws.ec2.Subnet
    ) -> aws.ec2.RouteTableAssociation:
        return aws.ec2.RouteTableAssociation(
            f"{self._name}-{kind}-association-{letter}", route_table_id=table.id, subnet_id=subnet.id, opts=self._child
        )

"""Routing: internet gateway, NAT gateways, route tables.

Every zone has its own route table in every NAT mode, so that a change of the mode changes one route per zone and
replaces nothing. Routes are separate resources: a table with inline routes would conflict with routes that others add.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.network.subnets import Subnets
from spec.settings.network import Nat

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
            f"{self._name}-{kind}-association-{letter}",
            route_table_id=table.id,
            subnet_id=subnet.id,
            opts=self._child,
        )

"""The VPC, its subnets, routing, endpoints and flow logs.

CIDRs and names follow from each zone's letter (`spec.subnets`), so adding or removing a zone doesn't change other
zones. No subnet assigns public addresses; outbound traffic goes through NAT or endpoints. Of a VPC that exists the
component makes flow logs only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.outputs import NetworkOutputs
from components.network.endpoints import Endpoints, EndpointsArgs
from components.network.existing import look_up
from components.network.flow_logs import FlowLogs, FlowLogsArgs
from components.network.routing import Routing, RoutingArgs, Subnets, SubnetsArgs
from spec.naming import zone_letter
from spec.settings import found
from spec.settings import network as settings
from spec.settings.environment import Account
from spec.settings.existing import Existing
from spec.subnets import layout


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """Inputs of `Network`.

    Attributes:
        settings: CIDRs, zones, NAT, endpoints, flow logs.
        account: Account and Region.
        cluster_name: EKS cluster of the network: its subnets are tagged with it.
        key_deletion_days: Deletion window of the flow logs' key, in days.
        protect: Protect the VPC, the flow logs and their key from deletion. Subnets aren't protected: they hold no
            data, and AWS refuses to delete them while a cluster or node uses them.
        needs: What an existing VPC must offer; required for one.
    """

    settings: settings.Network
    account: Account
    cluster_name: str
    key_deletion_days: int = 30
    protect: bool = False
    needs: found.Needs | None = None


class Network(pulumi.ComponentResource):
    """A VPC across several zones."""

    PULUMI_TYPE: Final = "slipway:network:Network"

    outputs: NetworkOutputs

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        self.outputs = self._made() if args.settings.existing is None else self._found(args.settings.existing)
        self.register_outputs({"vpcId": self.outputs.vpc_id})

    def _found(self, existing: Existing) -> NetworkOutputs:
        if self._args.needs is None:
            msg = "network.existing: what the stack needs of the VPC is not known"
            raise ValueError(msg)
        opts = pulumi.InvokeOptions(parent=self)
        vpc = look_up(self._args.settings, existing, self._args.needs, self._args.account.region, opts)
        vpc_id = pulumi.Output.from_input(vpc.id)
        self._make_flow_logs(vpc_id)
        subnets = {
            kind: {zone_letter(zone): pulumi.Output.from_input(subnet.id) for zone, subnet in by_zone.items()}
            for kind, by_zone in vpc.subnets.items()
        }
        return NetworkOutputs(
            vpc_id=vpc_id,
            vpc_cidr=str(self._args.settings.cidr),
            zones=self._zones,
            private_subnets=subnets["private"],
            public_subnets=subnets.get("public", {}),
            pod_subnets=subnets.get("pods", {}),
            known_subnets={zone_letter(zone): subnet.id for zone, subnet in vpc.subnets["private"].items()},
        )

    def _made(self) -> NetworkOutputs:
        args = self._args
        self._vpc = self._make_vpc()
        subnets = self._make_subnets()
        routing = self._make_routing(subnets)
        endpoints = self._make_endpoints(subnets, routing)
        self._make_flow_logs(self._vpc.id)
        # Without NAT, nodes reach image registries and the cluster's API only through endpoints.
        no_nat = args.settings.nat is settings.Nat.NONE
        return NetworkOutputs(
            vpc_id=self._vpc.id,
            vpc_cidr=str(args.settings.cidr),
            zones=self._zones,
            private_subnets={letter: subnet.id for letter, subnet in subnets.private.items()},
            public_subnets={letter: subnet.id for letter, subnet in subnets.public.items()},
            pod_subnets={letter: subnet.id for letter, subnet in subnets.pods.items()},
            ready=[*routing.ready, *(endpoints.all if no_nat else [])],
        )

    @property
    def _zones(self) -> dict[str, str]:
        return {zone_letter(zone): zone for zone in sorted(self._args.settings.zones)}

    def _make_vpc(self) -> aws.ec2.Vpc:
        vpc = aws.ec2.Vpc(
            f"{self._name}-vpc",
            cidr_block=str(self._args.settings.cidr),
            # Private endpoints of EKS and other services are names in a private hosted zone: both options are needed.
            enable_dns_support=True,
            enable_dns_hostnames=True,
            tags={"Name": self._args.cluster_name},
            opts=pulumi.ResourceOptions(parent=self, protect=self._args.protect),
        )
        # AWS creates a default security group whose members may talk freely. It can't be deleted, so it is adopted and
        # its rules are removed.
        aws.ec2.DefaultSecurityGroup(
            f"{self._name}-default-group",
            vpc_id=vpc.id,
            ingress=[],
            egress=[],
            tags={"Name": f"{self._args.cluster_name}-default-unused"},
            opts=self._child,
        )
        return vpc

    def _make_subnets(self) -> Subnets:
        settings = self._args.settings
        args = SubnetsArgs(
            vpc_id=self._vpc.id,
            pods_vpc_id=self._pods_vpc_id(),
            ranges=layout(settings.cidr, settings.zones, settings.pod_cidr),
            zones=self._zones,
            cluster_name=self._args.cluster_name,
        )
        return Subnets(f"{self._name}-subnet", args, self._child)

    def _pods_vpc_id(self) -> pulumi.Output[str] | None:
        """The VPC ID, through the association of the secondary CIDR: a subnet in it can't be created before."""
        if self._args.settings.pod_cidr is None:
            return None
        association = aws.ec2.VpcIpv4CidrBlockAssociation(
            f"{self._name}-pod-range",
            vpc_id=self._vpc.id,
            cidr_block=str(self._args.settings.pod_cidr),
            opts=self._child,
        )
        return association.vpc_id

    def _make_routing(self, subnets: Subnets) -> Routing:
        args = RoutingArgs(
            vpc_id=self._vpc.id, subnets=subnets, nat=self._args.settings.nat, cluster_name=self._args.cluster_name
        )
        return Routing(f"{self._name}-route", args, self._child)

    def _make_endpoints(self, subnets: Subnets, routing: Routing) -> Endpoints:
        settings = self._args.settings
        clients = {"vpc": str(settings.cidr), **({"pods": str(settings.pod_cidr)} if settings.pod_cidr else {})}
        args = EndpointsArgs(
            vpc_id=self._vpc.id,
            region=self._args.account.region,
            services=settings.endpoints,
            subnet_ids=[subnet.id for subnet in subnets.private.values()],
            route_table_ids=[table.id for table in routing.private_tables.values()],
            clients=clients,
            cluster_name=self._args.cluster_name,
        )
        return Endpoints(f"{self._name}-endpoint", args, self._child)

    def _make_flow_logs(self, vpc_id: pulumi.Output[str]) -> None:
        if not self._args.settings.flow_logs.enabled:
            return
        args = FlowLogsArgs(
            vpc_id=vpc_id,
            settings=self._args.settings.flow_logs,
            account=self._args.account,
            cluster_name=self._args.cluster_name,
            key_deletion_days=self._args.key_deletion_days,
            protect=self._args.protect,
        )
        FlowLogs(f"{self._name}-flow-logs", args, self._child)

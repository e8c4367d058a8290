"""VPC endpoints: a gateway endpoint for S3, always, because it is free; interface endpoints for configured services.

An interface endpoint costs per hour and zone, but works without NAT, and avoids NAT charges for image layers and logs
(AWS PrivateLink pricing; EKS User Guide, "Deploy private clusters").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from spec.settings.network import Endpoint

HTTPS: Final = 443


@dataclass(frozen=True, kw_only=True)
class EndpointsArgs:
    """Inputs of `Endpoints`.

    Attributes:
        vpc_id: The VPC.
        region: Its Region: endpoint services are regional.
        services: Services that get an interface endpoint in every zone.
        subnet_ids: Subnets of the interface endpoints, one in each zone.
        route_table_ids: Route tables that get the route to S3.
        clients: CIDRs that may call the interface endpoints, by a key.
        cluster_name: EKS cluster of the network, for `Name` tags.
    """

    vpc_id: pulumi.Input[str]
    region: str
    services: Sequence[Endpoint]
    subnet_ids: Sequence[pulumi.Input[str]]
    route_table_ids: Sequence[pulumi.Input[str]]
    clients: Mapping[str, str]
    cluster_name: str


class Endpoints(pulumi.ComponentResource):
    """Endpoints of a network, in `all`."""

    PULUMI_TYPE: Final = "slipway:network:Endpoints"

    all: Sequence[aws.ec2.VpcEndpoint]

    def __init__(self, name: str, args: EndpointsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        self.all = [self._s3(), *self._interfaces()]
        self.register_outputs({})

    def _s3(self) -> aws.ec2.VpcEndpoint:
        return aws.ec2.VpcEndpoint(
            f"{self._name}-s3",
            vpc_id=self._args.vpc_id,
            service_name=f"com.amazonaws.{self._args.region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=self._args.route_table_ids,
            tags={"Name": f"{self._args.cluster_name}-s3"},
            opts=self._child,
        )

    def _interfaces(self) -> list[aws.ec2.VpcEndpoint]:
        if not self._args.services:
            return []
        group = self._security_group()
        # A service listed twice is one endpoint.
        return [self._interface(service, group) for service in sorted(set(self._args.services))]

    def _interface(self, service: Endpoint, group: aws.ec2.SecurityGroup) -> aws.ec2.VpcEndpoint:
        key = service.replace(".", "-")
        return aws.ec2.VpcEndpoint(
            f"{self._name}-{key}",
            vpc_id=self._args.vpc_id,
            service_name=f"com.amazonaws.{self._args.region}.{service}",
            vpc_endpoint_type="Interface",
            private_dns_enabled=True,
            subnet_ids=self._args.subnet_ids,
            security_group_ids=[group.id],
            tags={"Name": f"{self._args.cluster_name}-{key}"},
            opts=self._child,
        )

    def _security_group(self) -> aws.ec2.SecurityGroup:
        """HTTPS from nodes and pods; no egress, because the endpoints open no connections."""
        group = aws.ec2.SecurityGroup(
            f"{self._name}-group",
            vpc_id=self._args.vpc_id,
            description="Interface endpoints of AWS services",
            tags={"Name": f"{self._args.cluster_name}-endpoints"},
            opts=self._child,
        )
        for key, cidr in self._args.clients.items():
            aws.vpc.SecurityGroupIngressRule(
                f"{self._name}-from-{key}",
                security_group_id=group.id,
                description=f"HTTPS from {key}",
                ip_protocol="tcp",
                from_port=HTTPS,
                to_port=HTTPS,
                cidr_ipv4=cidr,
                opts=self._child,
            )
        return group

"""Looks up a VPC that exists, with the provider's data sources, at every preview and update.

The answers are plain values, so that IDs are known at the first preview and everything is refused before a resource is
declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from spec.settings import found
from spec.settings.existing import KEYS, Existing, ExistingSubnets
from spec.settings.found_cluster import nodes_in, private_in
from spec.settings.network import Network
from spec.settings.problems import ConfigurationError, Problem

_TARGETS: Final = (
    "nat_gateway_id", "transit_gateway_id", "gateway_id", "network_interface_id", "vpc_endpoint_id",
    "vpc_peering_connection_id", "carrier_gateway_id", "local_gateway_id", "core_network_arn", "instance_id",
)  # fmt: skip
"""Attributes of a route, of which one names its target (pulumi_aws 7.51, `getRouteTable`)."""
_ANYWHERE: Final = "0.0.0.0/0"
_NONE_FOUND: Final = "no matching EC2 VPC Endpoint found"
"""An error of the AWS provider (hashicorp/terraform-provider-aws, internal/service/ec2/vpc_endpoint_data_source.go)."""


def look_up(
    network: Network, existing: Existing, needs: found.Needs, region: str, opts: pulumi.InvokeOptions
) -> found.Vpc:
    """The VPC, if a cluster can use it; what costs money or fails later is a warning.

    Raises:
        ConfigurationError: With everything that a cluster can't use, or with the VPC or subnets that do not exist.
    """
    vpc = _Reader(network, existing, region, opts).of_cluster(needs).vpc()
    refused = list(found.problems(network, vpc, needs))
    if refused:
        raise ConfigurationError(refused, "existing network")
    for warning in found.warnings(network, vpc, needs):
        pulumi.log.warn(str(warning))
    return vpc


class _Reader:
    def __init__(self, network: Network, existing: Existing, region: str, opts: pulumi.InvokeOptions) -> None:
        self._network, self._existing, self._region, self._opts = network, existing, region, opts

    def of_cluster(self, needs: found.Needs) -> _Reader:
        """The same, with what the settings leave to a cluster that exists."""
        if needs.vpc:
            given, ids = self._existing.private_subnets, dict[str, str]()
            if not (given.ids or given.tags):
                seen = [aws.ec2.get_subnet(id=id, opts=self._opts) for id in needs.subnets]
                ids = private_in(self._network.zones, map(self._described, seen))
            self._existing = nodes_in(self._existing, needs.vpc, ids)
        return self

    def vpc(self) -> found.Vpc:
        wanted = self._existing.vpc
        try:
            vpc = aws.ec2.get_vpc(id=wanted.id, tags=dict(wanted.tags) or None, opts=self._opts)
        except Exception as error:
            rule = "one VPC that the account sees must be this one"
            raise _missing("vpc", rule, wanted.id or dict(wanted.tags), error) from error  # noqa: EM101 - no message
        subnets = {
            kind: {zone: self._subnet(vpc.id, kind, zone, named) for zone in sorted(self._network.zones)}
            for kind, named in self._existing.kinds.items()
        }
        ours = {subnet.id for by_zone in subnets.values() for subnet in by_zone.values()}
        in_vpc = aws.ec2.GetSubnetsFilterArgs(name="vpc-id", values=[vpc.id])
        for_pods = aws.ec2.get_subnets(filters=[in_vpc], tags={found.CNI_TAG: "1"}, opts=self._opts)
        return found.Vpc(
            id=vpc.id,
            owner=vpc.owner_id,
            ranges=tuple(IPv4Network(one.cidr_block) for one in vpc.cidr_block_associations),
            dns_support=vpc.enable_dns_support,
            dns_hostnames=vpc.enable_dns_hostnames,
            subnets=subnets,
            endpoints=self._endpoints(vpc.id),
            s3_tables=self._s3_tables(vpc.id),
            pods_elsewhere=tuple(sorted(set(for_pods.ids) - ours)),
        )

    def _subnet(self, vpc: str, kind: str, zone: str, named: ExistingSubnets) -> found.Subnet:
        id = named.ids.get(zone)
        try:
            if id is not None:
                subnet = aws.ec2.get_subnet(id=id, opts=self._opts)
            else:
                subnet = aws.ec2.get_subnet(vpc_id=vpc, availability_zone=zone, tags=dict(named.tags), opts=self._opts)
        except Exception as error:
            rule = f"one subnet of {vpc} in {zone} must be this one"
            raise _missing(KEYS[kind], rule, id or dict(named.tags), error) from error
        return self._described(subnet)

    def _described(self, subnet: aws.ec2.GetSubnetResult) -> found.Subnet:
        table = self._table(subnet.vpc_id, subnet.id)
        return found.Subnet(
            id=subnet.id,
            vpc=subnet.vpc_id,
            zone=subnet.availability_zone,
            cidr=IPv4Network(subnet.cidr_block),
            free=subnet.available_ip_address_count,
            tags=subnet.tags,
            table=table,
            default_route=self._default_route(table),
        )

    def _table(self, vpc: str, subnet: str) -> str:
        """The subnet's own route table, or the main one."""
        own = self._tables({"vpc-id": vpc, "association.subnet-id": subnet})
        return (own or self._tables({"vpc-id": vpc, "association.main": "true"}))[0]

    def _default_route(self, table: str) -> str:
        routes = aws.ec2.get_route_table(route_table_id=table, opts=self._opts).routes
        shown = [_target(route) for route in routes if route.cidr_block == _ANYWHERE]
        if shown:
            return shown[0]
        # The data source leaves out routes that a gateway propagates (hashicorp/terraform-provider-aws,
        # internal/service/ec2/vpc_route_table_data_source.go, dataSourceRoutesRead).
        with_route = self._tables({"route-table-id": table, "route.destination-cidr-block": _ANYWHERE})
        return found.PROPAGATED if with_route else ""

    def _tables(self, filters: Mapping[str, str]) -> list[str]:
        """A subnet in one table; a filter for each condition."""
        listed = [aws.ec2.GetRouteTablesFilterArgs(name=name, values=[value]) for name, value in filters.items()]
        return list(aws.ec2.get_route_tables(filters=listed, opts=self._opts).ids)

    def _endpoints(self, vpc: str) -> dict[str, bool]:
        """Those that the settings name."""
        named = {str(name): self._endpoint(vpc, str(name), "Interface") for name in self._network.endpoints}
        return {name: bool(one.private_dns_enabled) for name, one in named.items() if one is not None}

    def _s3_tables(self, vpc: str) -> frozenset[str]:
        gateway = self._endpoint(vpc, "s3", "Gateway")
        return frozenset(gateway.route_table_ids if gateway is not None else ())

    def _endpoint(self, vpc: str, service: str, kind: str) -> aws.ec2.GetVpcEndpointResult | None:
        """An available endpoint; the data source raises an error where there is none."""
        filters = [
            aws.ec2.GetVpcEndpointFilterArgs(name="service-name", values=[f"com.amazonaws.{self._region}.{service}"]),
            aws.ec2.GetVpcEndpointFilterArgs(name="vpc-endpoint-type", values=[kind]),
        ]
        try:
            return aws.ec2.get_vpc_endpoint(vpc_id=vpc, state="available", filters=filters, opts=self._opts)
        except Exception as error:
            if _NONE_FOUND not in str(error):
                raise
            return None


def _target(route: Any) -> str:
    return next((str(value) for name in _TARGETS if (value := getattr(route, name, None))), "")


def _missing(key: str, rule: str, given: object, error: Exception) -> ConfigurationError:
    why = str(error).rpartition("error: ")[2] or str(error)
    return ConfigurationError([Problem(f"{found.PATH}.{key}", rule, given, f"AWS: {why}")], "existing network")

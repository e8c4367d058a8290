"""Data sources of an existing network, answered by moto as the AWS provider does.

Which arguments select, what is an error, and which routes are left out: hashicorp/terraform-provider-aws,
internal/service/ec2, `vpc_data_source.go`, `vpc_subnet_data_source.go`, `vpc_subnets_data_source.go`,
`vpc_route_tables_data_source.go`, `vpc_route_table_data_source.go`, `vpc_endpoint_data_source.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.rpc.errors import ProviderError

Args: TypeAlias = dict[str, Any]
HINT: Final = "to rehearse a VPC that exists, let `slipway sandbox network STACK` make it"


def _vpc(aws: Aws, args: Args) -> Args:
    named = {"cidr": "cidrBlock", "state": "state", "isDefault": "default"}
    vpc = _one(aws, "describe_vpcs", "Vpcs", "VPC", _filters(args, named | {"vpc-id": "id"}))
    id = vpc["VpcId"]

    def attribute(name: str) -> bool:
        answer = aws.call("ec2", "describe_vpc_attribute", VpcId=id, Attribute=name)
        return bool(answer[name[0].upper() + name[1:]]["Value"])

    return {
        "id": id,
        "arn": f"arn:{aws.partition}:ec2:{aws.region}:{vpc['OwnerId']}:vpc/{id}",
        "cidrBlock": vpc["CidrBlock"],
        "cidrBlockAssociations": [
            {
                "associationId": one["AssociationId"],
                "cidrBlock": one["CidrBlock"],
                "state": one["CidrBlockState"]["State"],
            }
            for one in vpc["CidrBlockAssociationSet"]
        ],
        "default": vpc["IsDefault"],
        "dhcpOptionsId": vpc["DhcpOptionsId"],
        "enableDnsSupport": attribute("enableDnsSupport"),
        "enableDnsHostnames": attribute("enableDnsHostnames"),
        "instanceTenancy": vpc["InstanceTenancy"],
        "mainRouteTableId": _tables(aws, {"vpc-id": id, "association.main": "true"})[0]["RouteTableId"],
        "ownerId": vpc["OwnerId"],
        "state": vpc["State"],
        "tags": _tags(vpc),
    }


def _subnet(aws: Aws, args: Args) -> Args:
    named = {
        "availabilityZone": "availabilityZone", "availability-zone-id": "availabilityZoneId",
        "cidrBlock": "cidrBlock", "state": "state", "vpc-id": "vpcId", "subnet-id": "id",
    }  # fmt: skip
    subnet = _one(aws, "describe_subnets", "Subnets", "Subnet", _filters(args, named))
    return {
        "id": subnet["SubnetId"],
        "arn": subnet["SubnetArn"],
        "availabilityZone": subnet["AvailabilityZone"],
        "availabilityZoneId": subnet["AvailabilityZoneId"],
        "availableIpAddressCount": subnet["AvailableIpAddressCount"],
        "cidrBlock": subnet["CidrBlock"],
        "defaultForAz": subnet["DefaultForAz"],
        "mapPublicIpOnLaunch": subnet["MapPublicIpOnLaunch"],
        "ownerId": subnet["OwnerId"],
        "state": subnet["State"],
        "tags": _tags(subnet),
        "vpcId": subnet["VpcId"],
    }


def _subnets(aws: Aws, args: Args) -> Args:
    found = aws.call("ec2", "describe_subnets", Filters=_filters(args, {}))["Subnets"]
    return {"id": aws.region, "ids": [one["SubnetId"] for one in found], "tags": args.get("tags") or {}}


def _route_tables(aws: Aws, args: Args) -> Args:
    filters = _filters(args, {"vpc-id": "vpcId"})
    found = aws.call("ec2", "describe_route_tables", Filters=filters)["RouteTables"]
    return {"id": aws.region, "ids": [one["RouteTableId"] for one in found], "tags": args.get("tags") or {}}


_TARGETS: Final = {
    "CarrierGatewayId": "carrierGatewayId", "GatewayId": "gatewayId", "InstanceId": "instanceId",
    "LocalGatewayId": "localGatewayId", "NatGatewayId": "natGatewayId", "NetworkInterfaceId": "networkInterfaceId",
    "TransitGatewayId": "transitGatewayId", "VpcPeeringConnectionId": "vpcPeeringConnectionId",
}  # fmt: skip


def _route_table(aws: Aws, args: Args) -> Args:
    named = {
        "route-table-id": "routeTableId", "vpc-id": "vpcId", "association.subnet-id": "subnetId",
        "association.gateway-id": "gatewayId",
    }  # fmt: skip
    found = aws.call("ec2", "describe_route_tables", Filters=_filters(args, named))["RouteTables"]
    if len(found) != 1:
        what = "query returned no results" if not found else "multiple Route Tables matched"
        msg = f"{what}; please change your search criteria and try again"
        raise ProviderError(msg)
    table = found[0]
    return {
        "id": table["RouteTableId"],
        "routeTableId": table["RouteTableId"],
        "ownerId": table["OwnerId"],
        "routes": [_route(route) for route in table["Routes"] if _shown(route)],
        "associations": [
            {
                "main": one["Main"],
                "routeTableAssociationId": one["RouteTableAssociationId"],
                "routeTableId": one["RouteTableId"],
                "subnetId": one.get("SubnetId", ""),
            }
            for one in table["Associations"]
        ],
        "tags": _tags(table),
        "vpcId": table["VpcId"],
    }


def _shown(route: Mapping[str, Any]) -> bool:
    """Local routes, propagated ones, and those of gateway endpoints are left out."""
    gateway = str(route.get("GatewayId") or "")
    of_endpoint = bool(route.get("DestinationPrefixListId")) and gateway.startswith("vpce-")
    return gateway != "local" and route.get("Origin") != "EnableVgwRoutePropagation" and not of_endpoint


def _route(route: Mapping[str, Any]) -> Args:
    targets = {key: str(route.get(name) or "") for name, key in _TARGETS.items()}
    return {
        "cidrBlock": route.get("DestinationCidrBlock", ""),
        "ipv6CidrBlock": route.get("DestinationIpv6CidrBlock", ""),
        "destinationPrefixListId": route.get("DestinationPrefixListId", ""),
        **targets,
    }


def _endpoint(aws: Aws, args: Args) -> Args:
    named = {
        "service-name": "serviceName", "vpc-endpoint-state": "state", "vpc-id": "vpcId", "vpc-endpoint-id": "id",
        "vpc-endpoint-type": "vpcEndpointType",
    }  # fmt: skip
    endpoint = _one(aws, "describe_vpc_endpoints", "VpcEndpoints", "VPC Endpoint", _filters(args, named))
    return {
        "id": endpoint["VpcEndpointId"],
        "privateDnsEnabled": bool(endpoint.get("PrivateDnsEnabled")),
        "routeTableIds": endpoint.get("RouteTableIds", []),
        "securityGroupIds": [one["GroupId"] for one in endpoint.get("Groups", [])],
        "serviceName": endpoint["ServiceName"],
        "state": endpoint["State"],
        "subnetIds": endpoint.get("SubnetIds", []),
        "tags": _tags(endpoint),
        "vpcEndpointType": endpoint["VpcEndpointType"],
        "vpcId": endpoint["VpcId"],
    }


def _filters(args: Args, named: Mapping[str, str]) -> list[Args]:
    """The arguments as filters of EC2, with those that the caller wrote."""
    filters = [{"Name": name, "Values": [str(args[key])]} for name, key in named.items() if args.get(key)]
    filters += [{"Name": f"tag:{key}", "Values": [value]} for key, value in (args.get("tags") or {}).items()]
    return filters + [{"Name": one["name"], "Values": one["values"]} for one in args.get("filters") or []]


def _one(aws: Aws, operation: str, key: str, what: str, filters: list[Args]) -> Mapping[str, Any]:
    found: list[Mapping[str, Any]] = aws.call("ec2", operation, Filters=filters)[key]
    if not found:
        msg = f"no matching EC2 {what} found; {HINT}"
        raise ProviderError(msg)
    if len(found) > 1:
        msg = f"multiple EC2 {what}s matched; use additional constraints to reduce matches to a single EC2 {what}"
        raise ProviderError(msg)
    return found[0]


def _tables(aws: Aws, filters: Mapping[str, str]) -> list[Mapping[str, Any]]:
    listed = [{"Name": name, "Values": [value]} for name, value in filters.items()]
    found: list[Mapping[str, Any]] = aws.call("ec2", "describe_route_tables", Filters=listed)["RouteTables"]
    return found


def _tags(described: Mapping[str, Any]) -> dict[str, str]:
    return {one["Key"]: one["Value"] for one in described.get("Tags") or ()}


FUNCTIONS: Mapping[str, Callable[[Aws, Args], Args]] = MappingProxyType(
    {
        "aws:ec2/getVpc:getVpc": _vpc,
        "aws:ec2/getSubnet:getSubnet": _subnet,
        "aws:ec2/getSubnets:getSubnets": _subnets,
        "aws:ec2/getRouteTables:getRouteTables": _route_tables,
        "aws:ec2/getRouteTable:getRouteTable": _route_table,
        "aws:ec2/getVpcEndpoint:getVpcEndpoint": _endpoint,
    }
)

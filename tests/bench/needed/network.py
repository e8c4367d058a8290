"""What the network needs: subnets, gateways, and the way out of a subnet."""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from slipway.render.recording import RecordedResource
from tests.bench.needed.need import Index, Need, every, inputs, of, policies_behind, source_of

VPC: Final = "aws:ec2/vpc:Vpc"
SUBNET: Final = "aws:ec2/subnet:Subnet"
INTERNET_GATEWAY: Final = "aws:ec2/internetGateway:InternetGateway"
NAT_GATEWAY: Final = "aws:ec2/natGateway:NatGateway"
ROUTE: Final = "aws:ec2/route:Route"
ASSOCIATION: Final = "aws:ec2/routeTableAssociation:RouteTableAssociation"
RANGE: Final = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"
ENDPOINT: Final = "aws:ec2/vpcEndpoint:VpcEndpoint"
FLOW_LOG: Final = "aws:ec2/flowLog:FlowLog"


def way_out(index: Index, subnets: Iterable[RecordedResource]) -> list[RecordedResource]:
    """What a machine in these subnets takes to the internet: the association of each with its route table, the routes
    of that table, and the same for the subnet of the NAT gateway that a route names."""
    ahead, found = list(subnets), dict[str, RecordedResource]()
    while ahead:
        subnet = ahead.pop()
        for association in index.of_type(ASSOCIATION):
            if subnet not in index.behind(association, "subnetId"):
                continue
            found[association.urn] = association
            for route in _routes(index, index.behind(association, "routeTableId")):
                if route.urn not in found:
                    found[route.urn] = route
                    ahead += [
                        net for nat in index.behind(route, "natGatewayId") for net in index.behind(nat, "subnetId")
                    ]
    return list(found.values())


def private_subnets(index: Index) -> list[RecordedResource]:
    """Subnets whose route table has no route to the internet gateway."""
    public = {
        subnet.urn
        for association in index.of_type(ASSOCIATION)
        for route in _routes(index, index.behind(association, "routeTableId"))
        if index.behind(route, "gatewayId")
        for subnet in index.behind(association, "subnetId")
    }
    return [subnet for subnet in index.of_type(SUBNET) if subnet.urn not in public]


def endpoints_without_nat(index: Index, _: RecordedResource) -> list[RecordedResource]:
    """All VPC endpoints, where they are the only way out."""
    return [] if index.of_type(NAT_GATEWAY) else index.of_type(ENDPOINT)


def _routes(index: Index, tables: Iterable[RecordedResource]) -> Iterator[RecordedResource]:
    urns = {table.urn for table in tables}
    for route in index.of_type(ROUTE):
        if urns & {table.urn for table in index.behind(route, "routeTableId")}:
            yield route


def _range(index: Index, subnet: RecordedResource) -> list[RecordedResource]:
    """The secondary range of the VPC that a subnet lies in."""
    own = ipaddress.ip_network(inputs(subnet)["cidrBlock"])
    ranges = ((each, ipaddress.ip_network(inputs(each)["cidrBlock"])) for each in index.of_type(RANGE))
    return [each for each, block in ranges if own.version == block.version and own.overlaps(block)]


def _own_way_out(index: Index, gateway: RecordedResource) -> list[RecordedResource]:
    return way_out(index, index.behind(gateway, "subnetId"))


NEEDS: Final[Mapping[str, Need]] = {
    "a subnet after the VPC": Need(
        later=of(SUBNET), earlier=every(VPC), required=True, why="it is a part of it (EC2 API Reference, CreateSubnet)"
    ),
    "a subnet after its secondary range": Need(
        later=of(SUBNET),
        earlier=_range,
        why="a subnet's range must be one of the VPC's (EC2 API Reference, CreateSubnet)",
    ),
    "an internet gateway after the VPC": Need(
        later=of(INTERNET_GATEWAY), earlier=every(VPC), required=True, why="the provider attaches it when it is created"
    ),
    "a NAT gateway after its subnet and address": Need(
        later=of(NAT_GATEWAY), earlier=source_of("subnetId", "allocationId"), required=True, why="they are its inputs"
    ),
    "a NAT gateway after the internet gateway": Need(
        later=of(NAT_GATEWAY),
        earlier=every(INTERNET_GATEWAY),
        required=True,
        why="its address is of no use without one (Terraform AWS provider, aws_nat_gateway: 'add an explicit "
        "dependency on the Internet Gateway for the VPC')",
    ),
    "a NAT gateway after the way out of its subnet": Need(
        later=of(NAT_GATEWAY),
        earlier=_own_way_out,
        required=True,
        why="a public NAT gateway is in a subnet with a route to the internet gateway (VPC User Guide, 'NAT gateways')",
    ),
    "a flow log after the policies of its role": Need(
        later=of(FLOW_LOG),
        earlier=policies_behind("iamRoleArn"),
        required=True,
        why="without them it is created and delivers nothing: 'Access error' (VPC User Guide, 'Troubleshoot VPC Flow "
        "Logs')",
    ),
}

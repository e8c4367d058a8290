"""Functions of the types in network.yaml: VPCs, gateways, routes, endpoints and flow logs."""

from __future__ import annotations

import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from sandbox.aws.client import Aws
from sandbox.aws.mapping import Call, Inputs, Item, find
from sandbox.aws.shapes import to_api

SERVICE = "ec2"


def described(operation: str, ids: str, items: str) -> Call:
    """Describe one object by id."""
    return Call(operation, target={ids: ["{id}"]}, item=f"{items}[0]")


# VPCs, their address ranges, subnets and internet gateways.

_VPC = described("describe_vpcs", "VpcIds", "Vpcs")
_VPC_ATTRIBUTES = ("EnableDnsSupport", "EnableDnsHostnames", "EnableNetworkAddressUsageMetrics")


def as_attribute(inputs: Inputs) -> Inputs:
    """An attribute of a VPC or a subnet in the form in which AWS takes it."""
    return {name: {"Value": value in (True, "true")} for name, value in inputs.items()}


def changes_tenancy(name: str, old: Inputs, new: Inputs) -> bool:
    tenancies = [inputs.get("instanceTenancy") or "default" for inputs in (old, new)]
    return name == "instanceTenancy" and tenancies != ["dedicated", "default"]


def read_vpc(aws: Aws, id: str, names: Inputs) -> Item | None:
    vpc = find(aws, SERVICE, _VPC, {**names, "id": id})
    if vpc is None:
        return None
    item: dict[str, Any] = dict(vpc)
    for attribute in _VPC_ATTRIBUTES:
        camel = attribute[0].lower() + attribute[1:]
        answer = aws.call(SERVICE, "describe_vpc_attribute", VpcId=id, Attribute=camel)
        item[attribute] = answer.get(attribute, {}).get("Value", False)
    return {**item, **_default_objects(aws, id)}


def _default_objects(aws: Aws, vpc: str) -> dict[str, str]:
    """The default security group, route table and network ACL that AWS creates with every VPC."""
    mine = {"Name": "vpc-id", "Values": [vpc]}
    groups = aws.call(
        SERVICE, "describe_security_groups", Filters=[mine, {"Name": "group-name", "Values": ["default"]}]
    )["SecurityGroups"]
    tables = aws.call(
        SERVICE, "describe_route_tables", Filters=[mine, {"Name": "association.main", "Values": ["true"]}]
    )["RouteTables"]
    acls = aws.call(SERVICE, "describe_network_acls", Filters=[mine, {"Name": "default", "Values": ["true"]}])
    ids = {}
    if groups:
        ids["DefaultSecurityGroupId"] = groups[0]["GroupId"]
    if tables:
        ids["MainRouteTableId"] = ids["DefaultRouteTableId"] = tables[0]["RouteTableId"]
    if acls["NetworkAcls"]:
        ids["DefaultNetworkAclId"] = acls["NetworkAcls"][0]["NetworkAclId"]
    return ids


def associate_range(aws: Aws, inputs: Inputs) -> str:
    parameters = {"VpcId": inputs["vpcId"], "CidrBlock": inputs["cidrBlock"]}
    answer = aws.call(SERVICE, "associate_vpc_cidr_block", **parameters)
    return str(answer["CidrBlockAssociation"]["AssociationId"])


def read_range(aws: Aws, id: str, names: Inputs) -> Item | None:
    ours = [{"Name": "cidr-block-association.association-id", "Values": [id]}]
    for vpc in aws.call(SERVICE, "describe_vpcs", Filters=ours)["Vpcs"]:
        for association in vpc["CidrBlockAssociationSet"]:
            if association["AssociationId"] == id and association["CidrBlockState"]["State"] == "associated":
                return {"VpcId": vpc["VpcId"], "CidrBlock": association["CidrBlock"]}
    return None


_GATEWAY = described("describe_internet_gateways", "InternetGatewayIds", "InternetGateways")


def attach_internet_gateway(aws: Aws, id: str, inputs: Inputs) -> None:
    """Detach from the present VPC, attach to the wanted one."""
    gateway = find(aws, SERVICE, _GATEWAY, {"id": id}) or {}
    attached = {item["VpcId"] for item in gateway.get("Attachments", [])}
    wanted = inputs.get("vpcId")
    for vpc in attached - {wanted}:
        aws.call(SERVICE, "detach_internet_gateway", InternetGatewayId=id, VpcId=vpc)
    if wanted and wanted not in attached:
        aws.call(SERVICE, "attach_internet_gateway", InternetGatewayId=id, VpcId=wanted)


def delete_internet_gateway(aws: Aws, id: str, inputs: Inputs) -> None:
    attach_internet_gateway(aws, id, {})
    aws.call(SERVICE, "delete_internet_gateway", InternetGatewayId=id)


# Route tables, routes, and their associations with subnets and gateways.

_TABLE = described("describe_route_tables", "RouteTableIds", "RouteTables")
_DESTINATIONS = ("DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId")
# Inline routes have other property names than aws:ec2/route:Route.
_INLINE = {
    "cidrBlock": "DestinationCidrBlock",
    "ipv6CidrBlock": "DestinationIpv6CidrBlock",
    "destinationPrefixListId": "DestinationPrefixListId",
}


def _destination(route: Mapping[str, Any]) -> str | None:
    return next((route[name] for name in _DESTINATIONS if route.get(name)), None)


def _routes(aws: Aws, table: str) -> list[dict[str, Any]] | None:
    """The routes of a table, without the local ones and those of gateway endpoints, which AWS adds itself."""
    item = find(aws, SERVICE, _TABLE, {"id": table})
    if item is None:
        return None
    return [
        route
        for route in item["Routes"]
        if route.get("GatewayId") != "local" and not str(route.get("GatewayId", "")).startswith("vpce-")
    ]


def read_table(aws: Aws, id: str, names: Inputs) -> Item | None:
    table = find(aws, SERVICE, _TABLE, {"id": id})
    if table is None:
        return None
    back = {aws_name: name for name, aws_name in _INLINE.items()}
    routes = [{back.get(key, key): value for key, value in route.items()} for route in _routes(aws, id) or []]
    return {**table, "Routes": routes}


def set_routes(aws: Aws, id: str, inputs: Inputs) -> None:
    """Change the table's routes to those of the program. A program without inline routes manages none here."""
    if "routes" not in inputs:
        return
    wanted = {}
    for route in inputs["routes"]:
        named = {_INLINE.get(key, key): value for key, value in route.items() if value}
        shaped = to_api(aws.input_shape(SERVICE, "create_route"), named)
        wanted[_destination(shaped)] = shaped
    live = {_destination(route): route for route in _routes(aws, id) or []}
    for destination in live.keys() - wanted.keys():
        aws.call(SERVICE, "delete_route", RouteTableId=id, **_only_destination(live[destination]))
    for destination, route in wanted.items():
        operation = "replace_route" if destination in live else "create_route"
        aws.call(SERVICE, operation, RouteTableId=id, **route)


def _only_destination(route: Mapping[str, Any]) -> dict[str, Any]:
    return {name: route[name] for name in _DESTINATIONS if route.get(name)}


_ROUTE_DESTINATIONS = frozenset({"destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId"})


def create_route(aws: Aws, inputs: Inputs) -> str:
    shaped = to_api(aws.input_shape(SERVICE, "create_route"), inputs)
    aws.call(SERVICE, "create_route", **shaped)
    # The AWS provider's id: the CRC-32 of the destination.
    return f"r-{inputs['routeTableId']}{binascii.crc32(str(_destination(shaped)).encode())}"


def read_route(aws: Aws, id: str, names: Inputs) -> Item | None:
    table, destination = names.get("routeTableId"), next((names[k] for k in _ROUTE_DESTINATIONS if names.get(k)), None)
    if table is None and "_" in id:
        table, destination = id.split("_", 1)
    for route in _routes(aws, str(table)) or []:
        if _destination(route) == destination:
            return {**route, "RouteTableId": table}
    return None


def replace_route(aws: Aws, id: str, inputs: Inputs) -> None:
    aws.call(SERVICE, "replace_route", **to_api(aws.input_shape(SERVICE, "replace_route"), inputs))


def delete_route(aws: Aws, id: str, inputs: Inputs) -> None:
    aws.call(SERVICE, "delete_route", **to_api(aws.input_shape(SERVICE, "delete_route"), inputs))


def _associations(aws: Aws, names: Inputs) -> Iterable[dict[str, Any]]:
    """The associations of the subnet or gateway, found by it too: their ids change with the table."""
    subnet, gateway = names.get("subnetId"), names.get("gatewayId")
    for table in aws.call(SERVICE, "describe_route_tables")["RouteTables"]:
        for association in table["Associations"]:
            by_target = association.get("SubnetId") == subnet if subnet else association.get("GatewayId") == gateway
            if association["RouteTableAssociationId"] == names["id"] or ((subnet or gateway) and by_target):
                yield association


def read_association(aws: Aws, id: str, names: Inputs) -> Item | None:
    return next(iter(_associations(aws, {**names, "id": id})), None)


def move_association(aws: Aws, id: str, inputs: Inputs) -> None:
    for association in _associations(aws, {**inputs, "id": id}):
        if association["RouteTableId"] != inputs["routeTableId"]:
            aws.call(
                SERVICE,
                "replace_route_table_association",
                AssociationId=association["RouteTableAssociationId"],
                RouteTableId=inputs["routeTableId"],
            )


def delete_association(aws: Aws, id: str, inputs: Inputs) -> None:
    for association in list(_associations(aws, {**inputs, "id": id})):
        identity = association["RouteTableAssociationId"]
        aws.call(SERVICE, "disassociate_route_table", AssociationId=identity)


# VPC endpoints and flow logs.

# A deleted endpoint stays visible for a while, on AWS too.
_ENDPOINT = Call("describe_vpc_endpoints", {"VpcEndpointIds": ["{id}"]}, item="VpcEndpoints[?State!='deleted'] | [0]")
_LISTS = {"routeTableIds": "RouteTableIds", "subnetIds": "SubnetIds", "securityGroupIds": "SecurityGroupIds"}


def read_endpoint(aws: Aws, id: str, names: Inputs) -> Item | None:
    item = find(aws, SERVICE, _ENDPOINT, {"id": id})
    if item is None:
        return None
    return {**item, "SecurityGroupIds": [group["GroupId"] for group in item.get("Groups") or []]}


def modify_endpoint(aws: Aws, id: str, inputs: Inputs) -> None:
    """AWS takes what to add and what to remove."""
    live = read_endpoint(aws, id, {}) or {}
    changes: dict[str, Any] = {}
    for name, member in _LISTS.items():
        if name in inputs:
            wanted, has = set(inputs[name]), set(live.get(member) or [])
            changes |= {f"Add{member}": sorted(wanted - has), f"Remove{member}": sorted(has - wanted)}
    if inputs.get("policy"):
        changes["PolicyDocument"] = inputs["policy"]
    aws.call(SERVICE, "modify_vpc_endpoint", VpcEndpointId=id, **{k: v for k, v in changes.items() if v})


def fixes_private_dns(path: str, old: Inputs, new: Inputs) -> bool:
    """Only the private DNS of an interface endpoint can be changed in place."""
    return path == "privateDnsEnabled" and new.get("vpcEndpointType") != "Interface"


_RESOURCES = {
    "vpcId": "VPC", "subnetId": "Subnet", "eniId": "NetworkInterface",
    "transitGatewayId": "TransitGateway", "transitGatewayAttachmentId": "TransitGatewayAttachment",
}  # fmt: skip


def of_resource(inputs: Inputs) -> Inputs:
    """AWS has one parameter where Pulumi has five properties."""
    target = next(name for name in _RESOURCES if inputs.get(name))
    rest = {key: value for key, value in inputs.items() if key not in _RESOURCES}
    return {**rest, "resourceIds": [inputs[target]], "resourceType": _RESOURCES[target]}

"""Route tables, routes, and their associations with subnets and gateways."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import ANY, Call, Inputs, Item, ResourceMapping, Setting, find
from slipway.sandbox.aws.mappings import ec2
from slipway.sandbox.aws.shapes import to_api

_DESCRIBE = ec2.described("describe_route_tables", "RouteTableIds", "RouteTables")
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
    item = find(aws, ec2.SERVICE, _DESCRIBE, {"id": table})
    if item is None:
        return None
    return [
        route
        for route in item["Routes"]
        if route.get("GatewayId") != "local" and not str(route.get("GatewayId", "")).startswith("vpce-")
    ]


def _read_table(aws: Aws, id: str, names: Inputs) -> Item | None:
    table = find(aws, ec2.SERVICE, _DESCRIBE, {"id": id})
    if table is None:
        return None
    back = {aws_name: name for name, aws_name in _INLINE.items()}
    routes = [{back.get(key, key): value for key, value in route.items()} for route in _routes(aws, id) or []]
    return {**table, "Routes": routes}


def _set_routes(aws: Aws, id: str, inputs: Inputs) -> None:
    """Change the table's routes to those of the program. A program without inline routes manages none here."""
    if "routes" not in inputs:
        return
    wanted = {}
    for route in inputs["routes"]:
        named = {_INLINE.get(key, key): value for key, value in route.items() if value}
        shaped = to_api(aws.input_shape(ec2.SERVICE, "create_route"), named)
        wanted[_destination(shaped)] = shaped
    live = {_destination(route): route for route in _routes(aws, id) or []}
    for destination in live.keys() - wanted.keys():
        aws.call(ec2.SERVICE, "delete_route", RouteTableId=id, **_only_destination(live[destination]))
    for destination, route in wanted.items():
        operation = "replace_route" if destination in live else "create_route"
        aws.call(ec2.SERVICE, operation, RouteTableId=id, **route)


def _only_destination(route: Mapping[str, Any]) -> dict[str, Any]:
    return {name: route[name] for name in _DESTINATIONS if route.get(name)}


ROUTE_TABLE = ResourceMapping(
    "aws:ec2/routeTable:RouteTable",
    ec2.SERVICE,
    create=Call("create_route_table", omit=frozenset({"routes", "propagatingVgws"})),
    id="RouteTable.RouteTableId",
    read=_read_table,
    delete=ec2.by_id("delete_route_table", "RouteTableId"),
    force_new=frozenset({"vpcId"}),
    settings=(Setting(("routes",), _set_routes),),
    tags=ec2.tags("route-table"),
    computed=ec2.arn("route-table"),
    drift=("vpcId", "routes"),
)

_ROUTE_DESTINATIONS = frozenset({"destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId"})


def _create_route(aws: Aws, inputs: Inputs) -> str:
    shaped = to_api(aws.input_shape(ec2.SERVICE, "create_route"), inputs)
    aws.call(ec2.SERVICE, "create_route", **shaped)
    # The AWS provider's id: the CRC-32 of the destination.
    return f"r-{inputs['routeTableId']}{binascii.crc32(str(_destination(shaped)).encode())}"


def _read_route(aws: Aws, id: str, names: Inputs) -> Item | None:
    table, destination = names.get("routeTableId"), next((names[k] for k in _ROUTE_DESTINATIONS if names.get(k)), None)
    if table is None and "_" in id:
        table, destination = id.split("_", 1)
    for route in _routes(aws, str(table)) or []:
        if _destination(route) == destination:
            return {**route, "RouteTableId": table}
    return None


def _replace_route(aws: Aws, id: str, inputs: Inputs) -> None:
    aws.call(ec2.SERVICE, "replace_route", **to_api(aws.input_shape(ec2.SERVICE, "replace_route"), inputs))


def _delete_route(aws: Aws, id: str, inputs: Inputs) -> None:
    aws.call(ec2.SERVICE, "delete_route", **to_api(aws.input_shape(ec2.SERVICE, "delete_route"), inputs))


ROUTE = ResourceMapping(
    "aws:ec2/route:Route",
    ec2.SERVICE,
    create=_create_route,
    id="",
    read=_read_route,
    delete=_delete_route,
    force_new=frozenset({"routeTableId", *_ROUTE_DESTINATIONS}),
    settings=(Setting((ANY,), _replace_route, at_create=False),),
    drift=("gatewayId", "natGatewayId", "egressOnlyGatewayId", "transitGatewayId", "vpcPeeringConnectionId"),
)


def _associations(aws: Aws, names: Inputs) -> Iterable[dict[str, Any]]:
    """The associations of the subnet or gateway, found by it too: their ids change with the table."""
    subnet, gateway = names.get("subnetId"), names.get("gatewayId")
    for table in aws.call(ec2.SERVICE, "describe_route_tables")["RouteTables"]:
        for association in table["Associations"]:
            by_target = association.get("SubnetId") == subnet if subnet else association.get("GatewayId") == gateway
            if association["RouteTableAssociationId"] == names["id"] or ((subnet or gateway) and by_target):
                yield association


def _read_association(aws: Aws, id: str, names: Inputs) -> Item | None:
    return next(iter(_associations(aws, {**names, "id": id})), None)


def _move_association(aws: Aws, id: str, inputs: Inputs) -> None:
    for association in _associations(aws, {**inputs, "id": id}):
        if association["RouteTableId"] != inputs["routeTableId"]:
            aws.call(
                ec2.SERVICE,
                "replace_route_table_association",
                AssociationId=association["RouteTableAssociationId"],
                RouteTableId=inputs["routeTableId"],
            )


def _delete_association(aws: Aws, id: str, inputs: Inputs) -> None:
    for association in list(_associations(aws, {**inputs, "id": id})):
        identity = association["RouteTableAssociationId"]
        aws.call(ec2.SERVICE, "disassociate_route_table", AssociationId=identity)


ROUTE_TABLE_ASSOCIATION = ResourceMapping(
    "aws:ec2/routeTableAssociation:RouteTableAssociation",
    ec2.SERVICE,
    create=Call("associate_route_table"),
    id="AssociationId",
    read=_read_association,
    delete=_delete_association,
    force_new=frozenset({"subnetId", "gatewayId"}),
    settings=(Setting(("routeTableId",), _move_association, at_create=False),),
    drift=("routeTableId",),
)

MAPPINGS = (ROUTE_TABLE, ROUTE, ROUTE_TABLE_ASSOCIATION)

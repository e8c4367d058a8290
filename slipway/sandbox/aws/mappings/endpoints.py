"""VPC endpoints and flow logs."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001, ARG005

from __future__ import annotations

from typing import Any

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Call, Inputs, Item, ResourceMapping, Setting, find
from slipway.sandbox.aws.mappings import ec2

# A deleted endpoint stays visible for a while, on AWS too.
_DESCRIBE = Call("describe_vpc_endpoints", {"VpcEndpointIds": ["{id}"]}, item="VpcEndpoints[?State!='deleted'] | [0]")
_LISTS = {"routeTableIds": "RouteTableIds", "subnetIds": "SubnetIds", "securityGroupIds": "SecurityGroupIds"}


def _read_endpoint(aws: Aws, id: str, names: Inputs) -> Item | None:
    item = find(aws, ec2.SERVICE, _DESCRIBE, {"id": id})
    if item is None:
        return None
    return {**item, "SecurityGroupIds": [group["GroupId"] for group in item.get("Groups") or []]}


def _modify_endpoint(aws: Aws, id: str, inputs: Inputs) -> None:
    """AWS takes what to add and what to remove."""
    live = _read_endpoint(aws, id, {}) or {}
    changes: dict[str, Any] = {}
    for name, member in _LISTS.items():
        if name in inputs:
            wanted, has = set(inputs[name]), set(live.get(member) or [])
            changes |= {f"Add{member}": sorted(wanted - has), f"Remove{member}": sorted(has - wanted)}
    if inputs.get("policy"):
        changes["PolicyDocument"] = inputs["policy"]
    aws.call(ec2.SERVICE, "modify_vpc_endpoint", VpcEndpointId=id, **{k: v for k, v in changes.items() if v})


VPC_ENDPOINT = ResourceMapping(
    "aws:ec2/vpcEndpoint:VpcEndpoint",
    ec2.SERVICE,
    create=Call("create_vpc_endpoint", rename={"policy": "PolicyDocument"}, omit=frozenset({"autoAccept"})),
    id="VpcEndpoint.VpcEndpointId",
    read=_read_endpoint,
    delete=Call("delete_vpc_endpoints", target={"VpcEndpointIds": ["{id}"]}),
    force_new=frozenset(
        {
            "resourceConfigurationArn",
            "serviceName",
            "serviceNetworkArn",
            "serviceRegion",
            "vpcEndpointType",
            "vpcId",
            "dnsOptions.privateDnsPreference",
            "dnsOptions.privateDnsSpecifiedDomains",
        }
    ),
    settings=(Setting((*_LISTS, "policy"), _modify_endpoint, at_create=False),),
    tags=ec2.tags("vpc-endpoint"),
    computed=ec2.arn("vpc-endpoint"),
    defaults={"vpcEndpointType": "Gateway"},
    drift=("serviceName", "vpcId", "vpcEndpointType", *_LISTS),
    # Only the private DNS of an interface endpoint can be changed in place.
    replace_if=lambda path, old, new: path == "privateDnsEnabled" and new.get("vpcEndpointType") != "Interface",
)

_RESOURCES = {
    "vpcId": "VPC", "subnetId": "Subnet", "eniId": "NetworkInterface",
    "transitGatewayId": "TransitGateway", "transitGatewayAttachmentId": "TransitGatewayAttachment",
}  # fmt: skip


def _of_resource(inputs: Inputs) -> Inputs:
    """AWS has one parameter where Pulumi has five properties."""
    target = next(name for name in _RESOURCES if inputs.get(name))
    rest = {key: value for key, value in inputs.items() if key not in _RESOURCES}
    return {**rest, "resourceIds": [inputs[target]], "resourceType": _RESOURCES[target]}


FLOW_LOG = ResourceMapping(
    "aws:ec2/flowLog:FlowLog",
    ec2.SERVICE,
    create=Call("create_flow_logs", rename={"iamRoleArn": "DeliverLogsPermissionArn"}, adapt=_of_resource),
    id="FlowLogIds[0]",
    read=ec2.described("describe_flow_logs", "FlowLogIds", "FlowLogs"),
    delete=Call("delete_flow_logs", target={"FlowLogIds": ["{id}"]}),
    force_new=frozenset(
        {
            "deliverCrossAccountRole",
            "destinationOptions",
            "eniId",
            "iamRoleArn",
            "logDestination",
            "logFormat",
            "logDestinationType",
            "maxAggregationInterval",
            "regionalNatGatewayId",
            "subnetId",
            "trafficType",
            "transitGatewayAttachmentId",
            "transitGatewayId",
            "vpcId",
        }
    ),
    tags=ec2.tags("vpc-flow-log"),
    from_item={"iamRoleArn": "DeliverLogsPermissionArn"},
    computed=ec2.arn("vpc-flow-log"),
    drift=("logDestination", "trafficType", "maxAggregationInterval", "iamRoleArn"),
    exactly_one=(tuple(_RESOURCES),),
)

MAPPINGS = (VPC_ENDPOINT, FLOW_LOG)

"""Elastic IPs and NAT gateways."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Call, Inputs, ResourceMapping, find
from slipway.sandbox.aws.mappings import ec2

EIP = ResourceMapping(
    "aws:ec2/eip:Eip",
    ec2.SERVICE,
    create=Call("allocate_address", omit=frozenset({"instance", "networkInterface", "associateWithPrivateIp"})),
    id="AllocationId",
    read=ec2.described("describe_addresses", "AllocationIds", "Addresses"),
    delete=ec2.by_id("release_address", "AllocationId"),
    force_new=frozenset(
        {"address", "customerOwnedIpv4Pool", "domain", "ipamPoolId", "networkBorderGroup", "publicIpv4Pool"}
    ),
    tags=ec2.tags("elastic-ip"),
    computed={**ec2.arn("elastic-ip"), "allocationId": "{id}"},
)


def _delete_gateway(aws: Aws, id: str, outputs: Inputs) -> None:
    """The gateway with its interfaces, which moto 5.2.5 leaves behind."""
    aws.call(ec2.SERVICE, "delete_nat_gateway", NatGatewayId=id)
    for gateway in aws.call(ec2.SERVICE, "describe_nat_gateways", NatGatewayIds=[id])["NatGateways"]:
        for address in gateway["NatGatewayAddresses"]:
            interface = address["NetworkInterfaceId"]
            if find(aws, ec2.SERVICE, Call("describe_network_interfaces", {"NetworkInterfaceIds": [interface]}), {}):
                aws.call(ec2.SERVICE, "delete_network_interface", NetworkInterfaceId=interface)


NAT_GATEWAY = ResourceMapping(
    "aws:ec2/natGateway:NatGateway",
    ec2.SERVICE,
    create=Call("create_nat_gateway"),
    id="NatGateway.NatGatewayId",
    # On AWS, a deleted gateway stays visible for an hour.
    read=Call(
        "describe_nat_gateways",
        target={"NatGatewayIds": ["{id}"]},
        item="NatGateways[?State!='deleted' && State!='deleting'] | [0]",
    ),
    delete=_delete_gateway,
    force_new=frozenset(
        {
            "allocationId",
            "availabilityMode",
            "connectivityType",
            "privateIp",
            "secondaryPrivateIpAddressCount",
            "subnetId",
            "vpcId",
        }
    ),
    tags=ec2.tags("natgateway"),
    from_item={
        "allocationId": "NatGatewayAddresses[0].AllocationId",
        "networkInterfaceId": "NatGatewayAddresses[0].NetworkInterfaceId",
        "privateIp": "NatGatewayAddresses[0].PrivateIp",
        "publicIp": "NatGatewayAddresses[0].PublicIp",
    },
    drift=("allocationId", "connectivityType", "subnetId"),
)

MAPPINGS = (EIP, NAT_GATEWAY)

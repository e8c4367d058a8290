"""Elastic IPs and NAT gateways."""

from __future__ import annotations

from slipway.sandbox.aws.mapping import Call, ResourceMapping
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
    delete=ec2.by_id("delete_nat_gateway", "NatGatewayId"),
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

"""VPCs, their address ranges, subnets and internet gateways."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from typing import Any

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Action, Call, Inputs, Item, ResourceMapping, Setting, find
from slipway.sandbox.aws.mappings import ec2

_DESCRIBE = ec2.described("describe_vpcs", "VpcIds", "Vpcs")
_VPC_ATTRIBUTES = {
    "enableDnsSupport": "EnableDnsSupport",
    "enableDnsHostnames": "EnableDnsHostnames",
    "enableNetworkAddressUsageMetrics": "EnableNetworkAddressUsageMetrics",
}


def _vpc_attribute(name: str) -> Action:
    """An action for one attribute: AWS takes one per call."""

    def send(aws: Aws, id: str, inputs: Inputs) -> None:
        value = {"Value": inputs[name] in (True, "true")}
        aws.call(ec2.SERVICE, "modify_vpc_attribute", VpcId=id, **{_VPC_ATTRIBUTES[name]: value})

    return send


def _read_vpc(aws: Aws, id: str, names: Inputs) -> Item | None:
    vpc = find(aws, ec2.SERVICE, _DESCRIBE, {**names, "id": id})
    if vpc is None:
        return None
    item: dict[str, Any] = dict(vpc)
    for attribute in _VPC_ATTRIBUTES.values():
        camel = attribute[0].lower() + attribute[1:]
        answer = aws.call(ec2.SERVICE, "describe_vpc_attribute", VpcId=id, Attribute=camel)
        item[attribute] = answer.get(attribute, {}).get("Value", False)
    return {**item, **_default_objects(aws, id)}


def _default_objects(aws: Aws, vpc: str) -> dict[str, str]:
    """The default security group, route table and network ACL that AWS creates with every VPC."""
    mine = {"Name": "vpc-id", "Values": [vpc]}
    groups = aws.call(
        ec2.SERVICE, "describe_security_groups", Filters=[mine, {"Name": "group-name", "Values": ["default"]}]
    )["SecurityGroups"]
    tables = aws.call(
        ec2.SERVICE, "describe_route_tables", Filters=[mine, {"Name": "association.main", "Values": ["true"]}]
    )["RouteTables"]
    acls = aws.call(ec2.SERVICE, "describe_network_acls", Filters=[mine, {"Name": "default", "Values": ["true"]}])
    ids = {}
    if groups:
        ids["DefaultSecurityGroupId"] = groups[0]["GroupId"]
    if tables:
        ids["MainRouteTableId"] = ids["DefaultRouteTableId"] = tables[0]["RouteTableId"]
    if acls["NetworkAcls"]:
        ids["DefaultNetworkAclId"] = acls["NetworkAcls"][0]["NetworkAclId"]
    return ids


VPC = ResourceMapping(
    "aws:ec2/vpc:Vpc",
    ec2.SERVICE,
    create=Call(
        "create_vpc",
        rename={"assignGeneratedIpv6CidrBlock": "AmazonProvidedIpv6CidrBlock", "ipv6IpamPoolId": "Ipv6IpamPoolId"},
    ),
    id="Vpc.VpcId",
    read=_read_vpc,
    delete=ec2.by_id("delete_vpc", "VpcId"),
    force_new=frozenset({"cidrBlock", "instanceTenancy", "ipv4IpamPoolId", "ipv4NetmaskLength"}),
    settings=tuple(Setting((name,), _vpc_attribute(name)) for name in _VPC_ATTRIBUTES),
    tags=ec2.tags("vpc"),
    computed=ec2.arn("vpc"),
    defaults={"enableDnsSupport": True, "enableDnsHostnames": False, "enableNetworkAddressUsageMetrics": False},
    drift=("cidrBlock", "instanceTenancy", *_VPC_ATTRIBUTES),
)


def _associate_range(aws: Aws, inputs: Inputs) -> str:
    parameters = {"VpcId": inputs["vpcId"], "CidrBlock": inputs["cidrBlock"]}
    answer = aws.call(ec2.SERVICE, "associate_vpc_cidr_block", **parameters)
    return str(answer["CidrBlockAssociation"]["AssociationId"])


def _read_range(aws: Aws, id: str, names: Inputs) -> Item | None:
    ours = [{"Name": "cidr-block-association.association-id", "Values": [id]}]
    for vpc in aws.call(ec2.SERVICE, "describe_vpcs", Filters=ours)["Vpcs"]:
        for association in vpc["CidrBlockAssociationSet"]:
            if association["AssociationId"] == id and association["CidrBlockState"]["State"] == "associated":
                return {"VpcId": vpc["VpcId"], "CidrBlock": association["CidrBlock"]}
    return None


SECONDARY_RANGE = ResourceMapping(
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
    ec2.SERVICE,
    create=_associate_range,
    id="",
    read=_read_range,
    delete=ec2.by_id("disassociate_vpc_cidr_block", "AssociationId"),
    force_new=frozenset({"vpcId", "cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"}),
    drift=("vpcId", "cidrBlock"),
)

_SUBNET_ATTRIBUTES = {
    "mapPublicIpOnLaunch": "MapPublicIpOnLaunch",
    "assignIpv6AddressOnCreation": "AssignIpv6AddressOnCreation",
    "enableResourceNameDnsARecordOnLaunch": "EnableResourceNameDnsARecordOnLaunch",
}


def _subnet_attribute(name: str) -> Action:
    def send(aws: Aws, id: str, inputs: Inputs) -> None:
        value = {"Value": inputs[name] in (True, "true")}
        aws.call(ec2.SERVICE, "modify_subnet_attribute", SubnetId=id, **{_SUBNET_ATTRIBUTES[name]: value})

    return send


SUBNET = ResourceMapping(
    "aws:ec2/subnet:Subnet",
    ec2.SERVICE,
    create=Call("create_subnet"),
    id="Subnet.SubnetId",
    read=ec2.described("describe_subnets", "SubnetIds", "Subnets"),
    delete=ec2.by_id("delete_subnet", "SubnetId"),
    force_new=frozenset(
        {
            "vpcId",
            "cidrBlock",
            "availabilityZone",
            "availabilityZoneId",
            "ipv6Native",
            "outpostArn",
            "ipv4IpamPoolId",
            "ipv4NetmaskLength",
            "ipv6IpamPoolId",
            "ipv6NetmaskLength",
        }
    ),
    settings=tuple(Setting((name,), _subnet_attribute(name)) for name in _SUBNET_ATTRIBUTES),
    tags=ec2.tags("subnet"),
    computed=ec2.arn("subnet"),
    defaults=dict.fromkeys(_SUBNET_ATTRIBUTES, False),
    drift=("vpcId", "cidrBlock", "availabilityZone", "mapPublicIpOnLaunch", "assignIpv6AddressOnCreation"),
)


def _attach(aws: Aws, id: str, inputs: Inputs) -> None:
    """Detach from the present VPC, attach to the wanted one."""
    gateway = find(aws, ec2.SERVICE, _DESCRIBE_GATEWAY, {"id": id}) or {}
    attached = {item["VpcId"] for item in gateway.get("Attachments", [])}
    wanted = inputs.get("vpcId")
    for vpc in attached - {wanted}:
        aws.call(ec2.SERVICE, "detach_internet_gateway", InternetGatewayId=id, VpcId=vpc)
    if wanted and wanted not in attached:
        aws.call(ec2.SERVICE, "attach_internet_gateway", InternetGatewayId=id, VpcId=wanted)


def _delete_gateway(aws: Aws, id: str, inputs: Inputs) -> None:
    _attach(aws, id, {})
    aws.call(ec2.SERVICE, "delete_internet_gateway", InternetGatewayId=id)


_DESCRIBE_GATEWAY = ec2.described("describe_internet_gateways", "InternetGatewayIds", "InternetGateways")

INTERNET_GATEWAY = ResourceMapping(
    "aws:ec2/internetGateway:InternetGateway",
    ec2.SERVICE,
    create=Call("create_internet_gateway", omit=frozenset({"vpcId"})),
    id="InternetGateway.InternetGatewayId",
    read=_DESCRIBE_GATEWAY,
    delete=_delete_gateway,
    settings=(Setting(("vpcId",), _attach),),
    tags=ec2.tags("internet-gateway"),
    from_item={"vpcId": "Attachments[0].VpcId"},
    computed=ec2.arn("internet-gateway"),
    drift=("vpcId",),
)

MAPPINGS = (VPC, SECONDARY_RANGE, SUBNET, INTERNET_GATEWAY)

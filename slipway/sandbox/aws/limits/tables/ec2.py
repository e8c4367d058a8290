"""EC2 and Auto Scaling."""

from __future__ import annotations

from slipway.sandbox.aws.limits.operations import sends

_TAGS = {"tags": "TagSpecifications.Tags"}
_RULE = {
    "cidrBlocks": "IpRanges.CidrIp", "ipv6CidrBlocks": "Ipv6Ranges.CidrIpv6", "protocol": "IpProtocol",
    "prefixListIds": "PrefixListIds.PrefixListId", "securityGroups": "UserIdGroupPairs.GroupId",
    "description": "IpRanges.Description",
}  # fmt: skip
_INLINE_RULES = {
    **{f"{way}.{name}": member for way in ("ingress", "egress") for name, member in _RULE.items()},
    "ingress": "IpPermissions", "egress": "authorize_security_group_egress:IpPermissions",
}  # fmt: skip
_SINGLE_RULE = {
    **_TAGS, "ipProtocol": "IpPermissions.IpProtocol", "fromPort": "IpPermissions.FromPort",
    "toPort": "IpPermissions.ToPort", "cidrIpv4": "IpPermissions.IpRanges.CidrIp",
    "cidrIpv6": "IpPermissions.Ipv6Ranges.CidrIpv6", "prefixListId": "IpPermissions.PrefixListIds.PrefixListId",
    "referencedSecurityGroupId": "IpPermissions.UserIdGroupPairs.GroupId", "securityGroupId": "GroupId",
    "description": "IpPermissions.IpRanges.Description",
}  # fmt: skip
_ROUTE = {
    "cidrBlock": "DestinationCidrBlock", "ipv6CidrBlock": "DestinationIpv6CidrBlock",
    "egressOnlyGatewayId": "EgressOnlyInternetGatewayId",
}  # fmt: skip

OPERATIONS = (
    sends(
        "aws:ec2/vpc:Vpc", "ec2", "create_vpc modify_vpc_attribute",
        members={**_TAGS, "assignGeneratedIpv6CidrBlock": "AmazonProvidedIpv6CidrBlock"},
    ),
    sends("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation", "ec2", "associate_vpc_cidr_block"),
    sends(
        "aws:ec2/subnet:Subnet", "ec2", "create_subnet modify_subnet_attribute",
        members={
            **_TAGS, "enableResourceNameDnsAaaaRecordOnLaunch": "EnableResourceNameDnsAAAARecordOnLaunch",
            "enableDns64": "EnableDns64",
        },
    ),
    sends(
        "aws:ec2/internetGateway:InternetGateway", "ec2", "create_internet_gateway attach_internet_gateway",
        members=_TAGS, supplied="InternetGatewayId",
    ),
    sends(
        "aws:ec2/eip:Eip", "ec2", "allocate_address associate_address",
        members={
            **_TAGS, "instance": "InstanceId", "networkInterface": "NetworkInterfaceId",
            "associateWithPrivateIp": "PrivateIpAddress",
        },
    ),
    sends(
        "aws:ec2/natGateway:NatGateway", "ec2", "create_nat_gateway",
        members={**_TAGS, "privateIp": "PrivateIpAddress"},
    ),
    sends(
        "aws:ec2/routeTable:RouteTable", "ec2", "create_route_table create_route enable_vgw_route_propagation",
        members={
            **_TAGS, "routes": "create_route:", "propagatingVgws": "GatewayId",
            **{f"routes.{name}": member for name, member in _ROUTE.items()},
        },
        supplied="RouteTableId",
    ),
    sends(
        "aws:ec2/route:Route", "ec2", "create_route",
        members={"egressOnlyGatewayId": "EgressOnlyInternetGatewayId"},
    ),
    sends("aws:ec2/routeTableAssociation:RouteTableAssociation", "ec2", "associate_route_table"),
    sends(
        "aws:ec2/securityGroup:SecurityGroup", "ec2",
        "create_security_group authorize_security_group_ingress authorize_security_group_egress",
        members={**_TAGS, **_INLINE_RULES, "name": "GroupName"},
        # The description has a default in the provider.
        supplied="Description",
        provider="revokeRulesOnDelete ingress.self egress.self",
    ),
    sends(
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "ec2",
        "describe_security_groups authorize_security_group_ingress authorize_security_group_egress create_tags",
        members={**_INLINE_RULES, "vpcId": "Filters.Values"},
        provider="revokeRulesOnDelete ingress.self egress.self",
    ),
    sends(
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "ec2", "authorize_security_group_ingress",
        members=_SINGLE_RULE,
    ),
    sends(
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", "ec2", "authorize_security_group_egress",
        members=_SINGLE_RULE,
    ),
    sends(
        "aws:ec2/vpcEndpoint:VpcEndpoint", "ec2", "create_vpc_endpoint",
        members={**_TAGS, "policy": "PolicyDocument"}, provider="autoAccept",
    ),
    sends(
        "aws:ec2/flowLog:FlowLog", "ec2", "create_flow_logs",
        members={
            **_TAGS, "iamRoleArn": "DeliverLogsPermissionArn", "vpcId": "ResourceIds", "subnetId": "ResourceIds",
            "eniId": "ResourceIds", "transitGatewayId": "ResourceIds", "transitGatewayAttachmentId": "ResourceIds",
            "regionalNatGatewayId": "ResourceIds",
        },
        supplied="ResourceType",
    ),
    sends(
        "aws:ec2/launchTemplate:LaunchTemplate", "ec2", "create_launch_template modify_launch_template",
        wrap="LaunchTemplateData",
        members={
            **_TAGS, "name": "LaunchTemplateName", "description": "VersionDescription",
            "vpcSecurityGroupIds": "LaunchTemplateData.SecurityGroupIds",
            "securityGroupNames": "LaunchTemplateData.SecurityGroups",
            "networkInterfaces.securityGroups": "Groups",
            "networkInterfaces.ipv4AddressCount": "SecondaryPrivateIpAddressCount",
            "networkInterfaces.ipv4Addresses": "PrivateIpAddresses.PrivateIpAddress",
            "networkInterfaces.ipv6Addresses": "Ipv6Addresses.Ipv6Address",
        },
        # The first address of the list.
        supplied="PrivateIpAddresses.PrivateIpAddress",
        provider="updateDefaultVersion",
    ),
    sends(
        "aws:ec2/placementGroup:PlacementGroup", "ec2", "create_placement_group",
        members={**_TAGS, "name": "GroupName"},
    ),
    sends(
        "aws:autoscaling/tag:Tag", "autoscaling", "create_or_update_tags",
        members={"autoscalingGroupName": "Tags.ResourceId", "tag": "Tags"},
    ),
    sends(
        "aws:autoscaling/schedule:Schedule", "autoscaling", "put_scheduled_update_group_action",
    ),
)  # fmt: skip

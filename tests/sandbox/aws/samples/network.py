"""Samples: networks and security groups."""

from collections.abc import Mapping
from typing import Any

from sandbox.aws.client import Aws
from tests.sandbox.aws.samples.sample import RETAGGED, TAGGED, Sample, aws_call
from tests.sandbox.aws.samples.world import World

_EC2_TAG = aws_call("ec2", "create_tags", Resources=["ID"], Tags=[{"Key": "team", "Value": "z"}])

_HTTPS = {"protocol": "tcp", "fromPort": 443, "toPort": 443, "cidrBlocks": ["10.0.0.0/8", "192.168.0.0/16"]}

_ALL = {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}


def _open_ssh(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    ssh = [{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    aws.call("ec2", "authorize_security_group_ingress", GroupId=id, IpPermissions=ssh)


def _rule_port(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    rule = {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 2, "CidrIpv4": "10.0.0.0/8"}
    aws.call(
        "ec2", "modify_security_group_rules", GroupId=outputs["securityGroupId"],
        SecurityGroupRules=[{"SecurityGroupRuleId": id, "SecurityGroupRule": rule}],
    )  # fmt: skip


def _rule(world: World) -> dict[str, Any]:
    rule = {"ipProtocol": "tcp", "fromPort": 988, "toPort": 1023, "cidrIpv4": "10.0.0.0/8", "description": "lustre"}
    return {"securityGroupId": world.group(), **rule, **TAGGED}


def _endpoint(world: World) -> dict[str, Any]:
    subnets = world.subnets()
    vpc = world.aws.call("ec2", "describe_subnets", SubnetIds=subnets)["Subnets"][0]["VpcId"]
    world.aws.call("ec2", "modify_vpc_attribute", VpcId=vpc, EnableDnsHostnames={"Value": True})
    group = world.make("aws:ec2/securityGroup:SecurityGroup", name="endpoint", vpcId=vpc)[0]
    return {"vpcId": vpc, "serviceName": f"com.amazonaws.{world.aws.region}.ecr.api", "vpcEndpointType": "Interface",
        "subnetIds": subnets, "securityGroupIds": [group], "privateDnsEnabled": True, **TAGGED}  # fmt: skip


def _flow_log(world: World) -> dict[str, Any]:
    logs = world.make("aws:cloudwatch/logGroup:LogGroup", name=world.unique("/vpc/flow"))[1]
    return {
        "vpcId": world.vpc(),
        "trafficType": "ALL",
        "logDestinationType": "cloud-watch-logs",
        "logDestination": logs["arn"],
        "iamRoleArn": world.role()["arn"],
        "maxAggregationInterval": 60,
        **TAGGED,
    }


SAMPLES: dict[str, Sample] = {
    "aws:ec2/vpc:Vpc": Sample(lambda world: {"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": True, **TAGGED},
        {"enableDnsHostnames": False, **RETAGGED}, _EC2_TAG, ("tags",)),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": Sample(
        lambda world: {"vpcId": world.vpc(), "cidrBlock": "100.64.0.0/16"}),
    "aws:ec2/subnet:Subnet": Sample(lambda world: {"vpcId": world.vpc(), "cidrBlock": "10.1.1.0/24",
            "availabilityZone": "us-west-2b", "mapPublicIpOnLaunch": True, **TAGGED},
        {"mapPublicIpOnLaunch": False, **RETAGGED},
        aws_call("ec2", "modify_subnet_attribute", SubnetId="ID", MapPublicIpOnLaunch={"Value": True}),
        ("mapPublicIpOnLaunch",)),
    "aws:ec2/internetGateway:InternetGateway": Sample(lambda world: {"vpcId": world.vpc(), **TAGGED}, RETAGGED,
        _EC2_TAG, ("tags",)),
    "aws:ec2/eip:Eip": Sample(lambda world: {"domain": "vpc", **TAGGED}, RETAGGED, _EC2_TAG, ("tags",)),
    "aws:ec2/natGateway:NatGateway": Sample(lambda world: {
            "allocationId": world.make("aws:ec2/eip:Eip", domain="vpc")[0], "subnetId": world.subnets(1)[0], **TAGGED},
        RETAGGED, _EC2_TAG, ("tags",)),
    "aws:ec2/routeTable:RouteTable": Sample(lambda world: {"vpcId": world.vpc(), "routes": [], **TAGGED}, RETAGGED,
        _EC2_TAG, ("tags",)),
    "aws:ec2/route:Route": Sample(lambda world: {"routeTableId": (table := world.table()),
            "destinationCidrBlock": "0.0.0.0/0", "gatewayId": world.gateway_of(table)}),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Sample(
        lambda world: {"routeTableId": world.table(), "subnetId": world.subnets(1)[0]}),
    "aws:ec2/securityGroup:SecurityGroup": Sample(lambda world: {"name": "web", "vpcId": world.vpc(),
            "description": "d", "ingress": [_HTTPS], "egress": [_ALL], **TAGGED},
        {"ingress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}], "egress": [], **RETAGGED},
        _open_ssh, ("ingress",)),
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": Sample(lambda world: {"vpcId": world.vpc(), **TAGGED},
        {"ingress": [_HTTPS], **RETAGGED}, _open_ssh, ("ingress",), stays=True),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": Sample(_rule,
        {"toPort": 1000, "description": "other", **RETAGGED}, _rule_port, ("fromPort", "toPort")),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": Sample(_rule, {"cidrIpv4": "10.2.0.0/16"}, _rule_port,
        ("fromPort", "toPort", "cidrIpv4")),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Sample(_endpoint, RETAGGED,
        aws_call("ec2", "modify_vpc_endpoint", VpcEndpointId="ID", RemoveSubnetIds="$subnetIds"), ("subnetIds",)),
    "aws:ec2/flowLog:FlowLog": Sample(_flow_log, RETAGGED, _EC2_TAG, ("tags",)),
}  # fmt: skip

"""Terraform's type and property names."""

import pytest

from slipway.render.terraform.types import snake, terraform_type


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("aws:ec2/vpc:Vpc", "aws_vpc"),
        ("aws:ec2/securityGroup:SecurityGroup", "aws_security_group"),
        ("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "aws_vpc_security_group_ingress_rule"),
        ("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation", "aws_vpc_ipv4_cidr_block_association"),
        ("aws:eks/nodeGroup:NodeGroup", "aws_eks_node_group"),
        ("aws:iam/openIdConnectProvider:OpenIdConnectProvider", "aws_iam_openid_connect_provider"),
        ("aws:rds/instance:Instance", "aws_db_instance"),
        ("aws:rds/subnetGroup:SubnetGroup", "aws_db_subnet_group"),
        ("aws:autoscaling/tag:Tag", "aws_autoscaling_group_tag"),
        ("aws:costexplorer/anomalyMonitor:AnomalyMonitor", "aws_ce_anomaly_monitor"),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", "aws_fsx_lustre_file_system"),
    ],
)
def test_a_type_has_terraforms_name(token: str, expected: str) -> None:
    assert terraform_type(token) == expected


@pytest.mark.parametrize(
    ("camel", "expected"),
    [
        ("publicAccessCidrs", "public_access_cidrs"),
        ("ipv6CidrBlock", "ipv6_cidr_block"),
        ("kmsMasterKeyId", "kms_master_key_id"),
        ("sseAlgorithm", "sse_algorithm"),
        ("vpcId", "vpc_id"),
    ],
)
def test_a_property_name_is_converted_to_snake_case(camel: str, expected: str) -> None:
    assert snake(camel) == expected

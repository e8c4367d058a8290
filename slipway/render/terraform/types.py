"""Terraform's type names. pulumi-aws derives its names from the Terraform provider; most can be reversed by rule."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

# Modules of pulumi_aws that Terraform's type names don't contain.
_SILENT: Final = frozenset({"ec2"})
_RENAMED_MODULES: Final[Mapping[str, str]] = {"costexplorer": "ce", "rds": "db"}
_EXCEPTIONS: Final[Mapping[str, str]] = {
    "aws:autoscaling/group:Group": "aws_autoscaling_group",
    "aws:autoscaling/tag:Tag": "aws_autoscaling_group_tag",
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": "aws_vpc_ipv4_cidr_block_association",
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": "aws_iam_openid_connect_provider",
    "aws:ec2/securityGroupRule:SecurityGroupRule": "aws_security_group_rule",
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": "aws_fsx_openzfs_file_system",
    "aws:lb/loadBalancer:LoadBalancer": "aws_lb",
    "aws:rds/cluster:Cluster": "aws_rds_cluster",
    "aws:rds/clusterInstance:ClusterInstance": "aws_rds_cluster_instance",
    "aws:s3/bucketObjectv2:BucketObjectv2": "aws_s3_object",
    "aws:s3/bucketReplicationConfig:BucketReplicationConfig": "aws_s3_bucket_replication_configuration",
}
"""Registry documentation of hashicorp/aws 6, names of resources (2026-11)."""


def terraform_type(token: str) -> str:
    """Terraform's type of a Pulumi token: `aws:eks/nodeGroup:NodeGroup` is `aws_eks_node_group`."""
    if token in _EXCEPTIONS:
        return _EXCEPTIONS[token]
    _, module, name = token.split(":")
    group = module.partition("/")[0]
    prefix = "" if group in _SILENT else f"{_RENAMED_MODULES.get(group, group)}_"
    return f"aws_{prefix}{snake(name)}"


def snake(camel: str) -> str:
    """Convert to snake case: `publicAccessCidrs` is `public_access_cidrs`."""
    words = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", camel)
    return re.sub(r"(?<=[A-Z])([A-Z][a-z])", r"_\1", words).lower()

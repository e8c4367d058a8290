"""The KMS key of all storage. Losing it means losing the data, so it is protected like the data."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from components.base.iam import Statement, account_administration, document, log_encryption
from components.storage.permissions import key_alias
from spec.catalog.regions import Region


def make_key(
    name: str, *, cluster: str, policy: str, deletion_days: int, protect: bool, parent: pulumi.Resource
) -> aws.kms.Key:
    """A key with rotation, and an alias named after the cluster.

    Args:
        name: Logical name of the key.
        cluster: EKS cluster of the data.
        policy: Key policy.
        deletion_days: Deletion window, in days.
        protect: Protect it from deletion, and retain it when removed from the stack.
        parent: The component that owns the key.
    """
    key = aws.kms.Key(
        name,
        description=f"Data of {cluster}: buckets, file systems, volumes, databases, images",
        enable_key_rotation=True,
        deletion_window_in_days=deletion_days,
        policy=policy,
        opts=pulumi.ResourceOptions(parent=parent, protect=protect, retain_on_delete=protect),
    )
    aws.kms.Alias(
        f"{name}-alias",
        name=key_alias(cluster),
        target_key_id=key.key_id,
        opts=pulumi.ResourceOptions(parent=parent),
    )
    return key


def key_policy(region: Region, account_id: str, *, lustre: bool, logs: Sequence[str] = ()) -> str:
    """The account's IAM policies control access to the key; services without IAM policies are listed in the key policy.

    Args:
        region: Region of the data.
        account_id: AWS account, 12 digits.
        lustre: Whether FSx for Lustre reads and writes the buckets.
        logs: Name patterns of log groups that are encrypted with the key.
    """
    statements = [account_administration(region.partition, account_id), _volumes(region, account_id)]
    if lustre:
        statements.append(_lustre_links(region, account_id))
    if logs:
        prefix = f"arn:{region.partition}:logs:{region.name}:{account_id}:log-group:"
        statements.append(
            log_encryption(f"logs.{region.name}.{region.dns_suffix}", *(f"{prefix}{name}" for name in logs))
        )
    return document(*statements)


def _volumes(region: Region, account_id: str) -> Statement:
    """Allow principals of the account that can create volumes to encrypt them with the key, only through EC2.

    The policy of the AWS managed key for EBS does the same. It needs no list of principals that launch instances: Auto
    Scaling's service-linked role, Karpenter, the EBS driver (EBS User Guide, "How Amazon EBS encryption works"; EC2
    Auto Scaling User Guide, "Required AWS KMS key policy for use with encrypted volumes"; read 2026-11).
    """
    return Statement(
        sid="Volumes",
        actions=[
            "kms:CreateGrant",
            "kms:Decrypt",
            "kms:DescribeKey",
            "kms:Encrypt",
            "kms:GenerateDataKey*",
            "kms:ReEncrypt*",
        ],
        resources=["*"],
        principals={"AWS": ["*"]},
        conditions={
            "StringEquals": {
                "kms:CallerAccount": [account_id],
                "kms:ViaService": [f"ec2.{region.name}.{region.dns_suffix}"],
            },
        },
    )


def _lustre_links(region: Region, account_id: str) -> Statement:
    """Allow the roles with which FSx reads and writes linked buckets to use the key, only through S3.

    FSx creates such a role for each file system, `AWSServiceRoleForFSxS3Access_<file system>`, when the first bucket is
    linked: its name isn't known before, and a principal can't contain a wildcard. So conditions select the principals
    (FSx for Lustre User Guide, "Working with server-side encrypted Amazon S3 buckets"; KMS Developer Guide, "Condition
    keys for AWS KMS: kms:CallerAccount"; read 2026-11).
    """
    roles = "aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_*"
    return Statement(
        sid="LustreLinks",
        actions=["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
        resources=["*"],
        principals={"AWS": ["*"]},
        conditions={
            "ArnLike": {"aws:PrincipalArn": [f"arn:{region.partition}:iam::{account_id}:role/{roles}"]},
            "StringEquals": {
                "kms:CallerAccount": [account_id],
                "kms:ViaService": [f"s3.{region.name}.{region.dns_suffix}"],
            },
        },
    )

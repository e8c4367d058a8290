"""The one key of all that keeps data: losing it is losing the data, so it is protected with it."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from components.base.iam import Statement, account_administration, document, log_encryption
from components.storage.permissions import key_alias
from spec.catalog.regions import Region


def make_key(
    name: str, *, cluster: str, policy: str, deletion_days: int, protect: bool, parent: pulumi.Resource
) -> aws.kms.Key:
    """A key that rotates, with an alias named after the cluster.

    Args:
        name: Logical name of the key.
        cluster: EKS cluster that the data is of.
        policy: Key policy.
        deletion_days: Days in which a scheduled deletion can be taken back.
        protect: Refuse to remove it, and keep it when the stack forgets it.
        parent: Component that the key belongs to.
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


def key_policy(region: Region, account_id: str, *, lustre: bool, logs: str | None = None) -> str:
    """The account's IAM policies decide who may use the key; services that have none are named.

    Args:
        region: Region of the data.
        account_id: AWS account, 12 digits.
        lustre: Whether a file system of FSx for Lustre reads and writes the buckets.
        logs: Pattern of names of log groups that are encrypted with the key.
    """
    statements = [account_administration(region.partition, account_id), _volumes(region, account_id)]
    if lustre:
        statements.append(_lustre_links(region, account_id))
    if logs is not None:
        groups = f"arn:{region.partition}:logs:{region.name}:{account_id}:log-group:{logs}"
        statements.append(log_encryption(f"logs.{region.name}.{region.dns_suffix}", groups))
    return document(*statements)


def _volumes(region: Region, account_id: str) -> Statement:
    """Let whoever in the account may make volumes encrypt them with the key, through EC2 alone.

    It is what the key that AWS manages for EBS says of itself, and needs no list of those who launch machines: Auto
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
    """Let the roles by which FSx reads and writes linked buckets use the key, through S3 alone.

    FSx makes such a role for each file system, `AWSServiceRoleForFSxS3Access_<file system>`, when the first bucket is
    linked: neither can it be named before, nor may a principal hold a wildcard. So the conditions say who is meant (FSx
    for Lustre User Guide, "Working with server-side encrypted Amazon S3 buckets"; KMS Developer Guide, "Condition keys
    for AWS KMS: kms:CallerAccount"; read 2026-11).
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

"""The KMS key of all storage, and IAM statements for its use. Losing it means losing the data, so it is protected like
the data, and outlives what a destroyed stack leaves.

The statements select the key by its alias, which the cluster's name determines, so that documents are known before the
key exists. A new alias may take up to five minutes to become effective; until then AWS denies access (KMS Developer
Guide, "Use aliases to control access to KMS keys", `kms:ResourceAliases`; read 2026-11).
"""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from components.base.iam import Statement, account_administration, document, log_encryption, rotated_key
from components.base.outputs import ClusterOutputs
from spec.catalog import regions
from spec.catalog.regions import Region


def key_alias(cluster: str) -> str:
    """Alias of the KMS key of a cluster's data."""
    return f"alias/{cluster}-storage"


def data_key_use(*, cluster: str, region: str, account_id: str) -> Statement:
    """Permission to read and write objects of the encrypted buckets."""
    actions = ("kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey")
    return _use("DataKey", actions, cluster, region, account_id, "s3")


def data_key_read(*, cluster: str, region: str, account_id: str) -> Statement:
    """Permission to read objects of the encrypted buckets."""
    return _use("DataKey", ("kms:Decrypt",), cluster, region, account_id, "s3")


def data_key_use_on(cluster: ClusterOutputs) -> Statement:
    """`data_key_use` for a cluster."""
    return data_key_use(cluster=cluster.owner, region=cluster.region, account_id=cluster.account_id)


def secret_key_use_on(cluster: ClusterOutputs) -> Statement:
    """Permission to read a secret that is encrypted with the key."""
    return _use("SecretKey", ("kms:Decrypt",), cluster.owner, cluster.region, cluster.account_id, "secretsmanager")


def volume_key_use(service: str, *, cluster: str, region: str, account_id: str) -> list[Statement]:
    """Permission to create encrypted volumes or file systems.

    The service creates a grant for each (EKS User Guide, "Store Kubernetes volumes with Amazon EBS", customer managed
    key; read 2026-11).

    Args:
        service: `ec2` for volumes, `fsx` for file systems.
        cluster: Name of the cluster.
        region: AWS Region.
        account_id: AWS account, 12 digits.
    """
    actions = ("kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncrypt*")
    grant = _use("VolumeGrants", ("kms:CreateGrant",), cluster, region, account_id, service)
    conditions = {**grant.conditions, "Bool": {"kms:GrantIsForAWSResource": ["true"]}}
    return [
        _use("VolumeKey", actions, cluster, region, account_id, service),
        Statement(grant.sid, grant.actions, grant.resources, conditions=conditions),
    ]


def _use(
    sid: str, actions: tuple[str, ...], cluster: str, region_name: str, account_id: str, service: str
) -> Statement:
    region = regions.get(region_name)
    return Statement(
        sid,
        actions,
        [f"arn:{region.partition}:kms:{region.name}:{account_id}:key/*"],
        conditions={
            "ForAnyValue:StringEquals": {"kms:ResourceAliases": [key_alias(cluster)]},
            "StringEquals": {"kms:ViaService": [f"{service}.{region.name}.{region.dns_suffix}"]},
        },
    )


def make_key(
    name: str, *, cluster: str, policy: str, deletion_days: int, protect: bool, retain: bool, parent: pulumi.Resource
) -> aws.kms.Key:
    """A key with rotation, and an alias named after the cluster.

    Args:
        name: Logical name of the key.
        cluster: EKS cluster of the data.
        policy: Key policy.
        deletion_days: Deletion window, in days.
        protect: Protect it from deletion, and retain it when removed from the stack.
        retain: Only retain it, because something outlives the stack that nobody can read without it.
        parent: The component that owns the key.
    """
    alias, about = key_alias(cluster), f"Data of {cluster}: buckets, file systems, volumes, databases, images"
    kept = pulumi.ResourceOptions(parent=parent, protect=protect, retain_on_delete=protect or retain)
    child = pulumi.ResourceOptions(parent=parent)
    return rotated_key(name, (f"{name}-alias", alias), about, policy, deletion_days, kept=kept, child=child)


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
        "Volumes",
        ["kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
        ["*"],
        principals={"AWS": ["*"]},
        conditions={
            "StringEquals": {
                "kms:CallerAccount": [account_id],
                "kms:ViaService": [f"ec2.{region.name}.{region.dns_suffix}"],
            }
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
        "LustreLinks",
        ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
        ["*"],
        principals={"AWS": ["*"]},
        conditions={
            "ArnLike": {"aws:PrincipalArn": [f"arn:{region.partition}:iam::{account_id}:role/{roles}"]},
            "StringEquals": {
                "kms:CallerAccount": [account_id],
                "kms:ViaService": [f"s3.{region.name}.{region.dns_suffix}"],
            },
        },
    )

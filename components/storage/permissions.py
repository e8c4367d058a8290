"""IAM statements for the use of the data's KMS key. Pure.

They select the key by its alias, which the cluster's name determines, so that documents are known before the key
exists. A new alias may take up to five minutes to become effective; until then AWS denies access (KMS Developer Guide,
"Use aliases to control access to KMS keys", `kms:ResourceAliases`; read 2026-11).
"""

from __future__ import annotations

from components.base.iam import Statement
from components.base.outputs import ClusterOutputs
from spec.catalog import regions


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
    return data_key_use(cluster=cluster.name, region=cluster.region, account_id=cluster.account_id)


def secret_key_use_on(cluster: ClusterOutputs) -> Statement:
    """Permission to read a secret that is encrypted with the key."""
    return _use("SecretKey", ("kms:Decrypt",), cluster.name, cluster.region, cluster.account_id, "secretsmanager")


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
        Statement(sid=grant.sid, actions=grant.actions, resources=grant.resources, conditions=conditions),
    ]


def _use(
    sid: str, actions: tuple[str, ...], cluster: str, region_name: str, account_id: str, service: str
) -> Statement:
    region = regions.get(region_name)
    return Statement(
        sid=sid,
        actions=actions,
        resources=[f"arn:{region.partition}:kms:{region.name}:{account_id}:key/*"],
        conditions={
            "ForAnyValue:StringEquals": {"kms:ResourceAliases": [key_alias(cluster)]},
            "StringEquals": {"kms:ViaService": [f"{service}.{region.name}.{region.dns_suffix}"]},
        },
    )

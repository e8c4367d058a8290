"""What each EKS add-on may do in AWS: the narrowest AWS managed policy for it, or a narrower inline one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from components.base.iam import Inline, Managed, Statement, document
from spec.catalog import addons
from spec.settings.cluster import AddonName


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Scope of the permissions.

    Attributes:
        partition: AWS partition.
        region: AWS Region.
        account_id: AWS account, 12 digits.
        buckets: Names of S3 buckets that pods may mount; `*` is a wildcard.
    """

    partition: str
    region: str
    account_id: str
    buckets: Sequence[str] = ()


def permissions(addon: AddonName, scope: Scope) -> Managed | Inline | None:
    """Permissions of an add-on; None if it doesn't call AWS, or only what doesn't exist (no buckets)."""
    if addon in _OWN:
        return _OWN[addon](scope)
    arn = addons.get(addon).policy_arn(scope.partition)
    return Managed(arn=arn) if arn else None


def _fsx(scope: Scope) -> Inline:
    """Create file systems, and update or delete those that the driver itself created, which carry its tag.

    AWS's guide names AmazonFSxFullAccess. The driver calls only these actions (kubernetes-sigs/aws-fsx-csi-driver,
    docs/install.md), and tags what it creates with `CSIVolumeName` (pkg/cloud/cloud.go, VolumeNameTagKey; v1.9.0).
    """
    file_systems = [f"arn:{scope.partition}:fsx:{scope.region}:{scope.account_id}:file-system/*"]
    requested = {"Null": {"aws:RequestTag/CSIVolumeName": ["false"]}}
    owned = {"Null": {"aws:ResourceTag/CSIVolumeName": ["false"]}}
    linked = f"arn:{scope.partition}:iam::{scope.account_id}:role/aws-service-role/fsx.amazonaws.com/*"
    return Inline(
        document=document(
            Statement(sid="Find", actions=["fsx:DescribeFileSystems"], resources=["*"]),
            Statement(
                sid="Make",
                actions=["fsx:CreateFileSystem", "fsx:TagResource"],
                resources=file_systems,
                conditions=requested,
            ),
            Statement(
                sid="ChangeOwn",
                actions=["fsx:DeleteFileSystem", "fsx:UpdateFileSystem"],
                resources=file_systems,
                conditions=owned,
            ),
            Statement(
                sid="ServiceRole",
                actions=["iam:CreateServiceLinkedRole"],
                resources=[linked],
                conditions={"StringEquals": {"iam:AWSServiceName": ["fsx.amazonaws.com"]}},
            ),
        )
    )


def _s3(scope: Scope) -> Inline | None:
    """Read objects of the named buckets, as Mountpoint with `read-only` needs (S3 User Guide, "Mountpoint: IAM
    permissions"). Every pod that may create a volume of this driver mounts with this role, so it can't write: pods that
    write to S3 do so with their own role."""
    if not scope.buckets:
        return None
    buckets = [f"arn:{scope.partition}:s3:::{name}" for name in scope.buckets]
    own_account = {"StringEquals": {"aws:ResourceAccount": [scope.account_id]}}
    return Inline(
        document=document(
            Statement(sid="List", actions=["s3:ListBucket"], resources=buckets, conditions=own_account),
            Statement(
                sid="Read",
                actions=["s3:GetObject"],
                resources=[f"{bucket}/*" for bucket in buckets],
                conditions=own_account,
            ),
        )
    )


_OWN: Final[Mapping[AddonName, Callable[[Scope], Inline | None]]] = {
    AddonName.FSX_CSI: _fsx,
    AddonName.S3_CSI: _s3,
}

"""The shared file system: EFS, with one mount target per zone, accessible only through access points and only for the
CSI driver.

The driver's node pods mount with the role of their service account, which the mount option `iam` presents to EFS
(kubernetes-sigs/aws-efs-csi-driver v3.4.1, docs/parameters.md; efs-utils takes credentials from EKS Pod Identity since
2.3.0). A client without a role, or with another one, is refused. The controller only creates and deletes access points:
it never mounts, because `deleteAccessPointRootDir` is off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.iam import Inline, PodRole, Statement, document, pod_identity_role
from components.base.outputs import ClusterOutputs, EfsOutputs, NetworkOutputs
from components.storage.firewall import INGRESS, allow, make_group
from spec.catalog import addons
from spec.settings.cluster import AddonName
from spec.settings.storage import Efs

NFS: Final = (2049, 2049)  # EFS User Guide, "Using VPC security groups" (read 2026-11)
ACCESS_POINTS: Final = ("datasets", "models")
USER: Final = 1000  # user and group that an access point enforces, whatever the pod's user is
TYPE: Final = "elasticfilesystem"
NODE_ACCOUNT: Final = "efs-csi-node-sa"
"""Service account of the driver's node pods (v3.4.1, charts/aws-efs-csi-driver/values.yaml)."""
_CLIENT: Final = (f"{TYPE}:ClientMount", f"{TYPE}:ClientWrite")
"""Without ClientRootAccess: every access point has a user, and EFS itself creates an access point's directory."""


@dataclass(frozen=True, kw_only=True)
class SharedFilesArgs:
    """Inputs of `SharedFiles`.

    Attributes:
        settings: Lifecycle, backups.
        key_arn: Its KMS key.
        cluster: The cluster whose nodes mount it.
        network: Network of the mount targets.
        protect: Protect it from deletion, and retain it when removed from the stack.
    """

    settings: Efs
    key_arn: pulumi.Input[str]
    cluster: ClusterOutputs
    network: NetworkOutputs
    protect: bool


class SharedFiles(pulumi.ComponentResource):
    """An EFS file system with access points `datasets` and `models`."""

    PULUMI_TYPE: Final = "slipway:storage:SharedFiles"

    outputs: EfsOutputs

    def __init__(self, name: str, args: SharedFilesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        self._kept = pulumi.ResourceOptions(parent=self, retain_on_delete=args.protect)
        system = self._make_system()
        role = self._make_role(system)
        self._make_policy(system, role)
        points = {purpose: self._make_access_point(system, purpose) for purpose in ACCESS_POINTS}
        self.outputs = EfsOutputs(
            id=system.id,
            arn=system.arn,
            access_points={purpose: point.id for purpose, point in points.items()},
            mount_role=role,
            ready=[*self._make_targets(system), *points.values()],
        )
        self.register_outputs({"id": system.id})

    def _make_system(self) -> aws.efs.FileSystem:
        args = self._args
        system = aws.efs.FileSystem(
            f"{self._name}-files",
            encrypted=True,
            kms_key_id=args.key_arn,
            performance_mode="generalPurpose",
            # Elastic throughput is billed by traffic and has no credits that run out; bursting throttles a small file
            # system with many reads (repost.aws, "How do Amazon EFS burst credits work?", read 2026-11).
            throughput_mode="elastic",
            lifecycle_policies=_lifecycle(args.settings),
            tags={"Name": f"{args.cluster.owner}-shared"},
            opts=pulumi.ResourceOptions(parent=self, protect=args.protect, retain_on_delete=args.protect),
        )
        aws.efs.BackupPolicy(
            f"{self._name}-backup",
            file_system_id=system.id,
            backup_policy={"status": "ENABLED" if args.settings.backup else "DISABLED"},
            opts=self._kept,
        )
        return system

    def _make_role(self, system: aws.efs.FileSystem) -> PodRole:
        """Its own policy allows what the file system's policy allows: a role that is created anew keeps its access,
        although the file system's policy refers to the former role's ID (EFS User Guide, "Resource-based policy
        examples for Amazon EFS"; read 2026-11)."""
        return pod_identity_role(
            f"{self._name}-mounts",
            cluster_arn=self._args.cluster.arn,
            namespace=addons.get(AddonName.EFS_CSI).namespace,
            service_account=NODE_ACCOUNT,
            policy=Inline(document=system.arn.apply(lambda arn: document(_through_access_points(arn)))),
            parent=self,
        )

    def _make_policy(self, system: aws.efs.FileSystem, role: PodRole) -> None:
        policy = pulumi.Output.all(system.arn, role.arn).apply(lambda arns: access_policy(*arns))
        aws.efs.FileSystemPolicy(f"{self._name}-policy", file_system_id=system.id, policy=policy, opts=self._kept)

    def _make_targets(self, system: aws.efs.FileSystem) -> list[aws.efs.MountTarget]:
        args = self._args
        group = make_group(
            f"{self._name}-group",
            vpc_id=args.network.vpc_id,
            description="Mount targets of the shared file system",
            shown=f"{args.cluster.owner}-shared-files",
            parent=self,
        )
        rule = allow(
            INGRESS,
            f"{self._name}-from-nodes",
            group=group.id,
            peer=args.cluster.security_group_id,
            ports=NFS,
            description="NFS from nodes",
            parent=self,
        )
        return [
            aws.efs.MountTarget(
                f"{self._name}-{letter}",
                file_system_id=system.id,
                subnet_id=subnet,
                security_groups=[group.id],
                # A mount before the rule exists hangs.
                opts=pulumi.ResourceOptions(parent=self, depends_on=[rule]),
            )
            for letter, subnet in args.network.private_subnets.items()
        ]

    def _make_access_point(self, system: aws.efs.FileSystem, purpose: str) -> aws.efs.AccessPoint:
        """An access point with a directory as root; EFS creates the directory with its owner at first use."""
        owner = aws.efs.AccessPointRootDirectoryCreationInfoArgs(owner_uid=USER, owner_gid=USER, permissions="0775")
        return aws.efs.AccessPoint(
            f"{self._name}-{purpose}",
            file_system_id=system.id,
            posix_user=aws.efs.AccessPointPosixUserArgs(uid=USER, gid=USER),
            root_directory=aws.efs.AccessPointRootDirectoryArgs(path=f"/{purpose}", creation_info=owner),
            tags={"Name": f"{self._args.cluster.owner}-{purpose}"},
            opts=self._kept,
        )


def access_policy(arn: str, role: str) -> str:
    """Allows one role to mount and write through mount targets, with TLS, through an access point, without root access.

    A file system policy replaces the default, which allows everything to clients without a role, too. EFS evaluates
    only these condition keys for NFS clients, and no `aws:PrincipalArn`: the role has to be the principal (EFS User
    Guide, "Using IAM to control access to file systems"; read 2026-11).

    Args:
        arn: ARN of the file system.
        role: ARN of the role that mounts it.
    """
    encrypted = Statement(
        "OnlyEncryptedTransport",
        [f"{TYPE}:Client*"],
        [arn],
        effect="Deny",
        principals={"AWS": ["*"]},
        conditions={"Bool": {"aws:SecureTransport": ["false"]}},
    )
    return document(_through_access_points(arn, {"AWS": [role]}), encrypted)


def _through_access_points(arn: str, principals: Mapping[str, Sequence[str]] | None = None) -> Statement:
    return Statement(
        "ThroughAccessPoints",
        _CLIENT,
        [arn],
        principals=principals or {},
        conditions={
            "Bool": {f"{TYPE}:AccessedViaMountTarget": ["true"]},
            "Null": {f"{TYPE}:AccessPointArn": ["false"]},
        },
    )


def _lifecycle(settings: Efs) -> list[aws.efs.FileSystemLifecyclePolicyArgs]:
    """Files that aren't read move to Infrequent Access, and back at the first read."""
    days = settings.transition_to_ia_days
    if days is None:
        return []
    return [
        aws.efs.FileSystemLifecyclePolicyArgs(transition_to_ia=f"AFTER_{days}_DAY{'S' if days > 1 else ''}"),
        aws.efs.FileSystemLifecyclePolicyArgs(transition_to_primary_storage_class="AFTER_1_ACCESS"),
    ]

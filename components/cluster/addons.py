"""EKS add-ons: configuration where it differs from AWS's defaults, and a role for each that calls AWS, with the
narrowest AWS managed policy for it, or a narrower inline one.

There are two sets, because an add-on with a Deployment is not ACTIVE before a node runs its pods (EKS waits for it up
to 20 minutes, terraform-aws-modules/terraform-aws-eks#3001), and nodes are not Ready before the CNI add-on runs. The
catalog says which add-on is in which set (`spec.catalog.addons`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal

import pulumi
import pulumi_aws as aws

from components.base.iam import Inline, Managed, PodRole, Statement, document, pod_identity_role
from components.base.outputs import ClusterOutputs
from spec.catalog import addons
from spec.catalog import addons as catalog
from spec.settings.cluster import Addon, AddonName
from spec.subnets import WARM_PREFIXES


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Scope of the permissions."""

    partition: str  # AWS partition
    region: str  # AWS Region
    account_id: str  # AWS account, 12 digits
    buckets: Sequence[str] = ()  # names of S3 buckets that pods may mount; `*` is a wildcard


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
            Statement("Find", ["fsx:DescribeFileSystems"], ["*"]),
            Statement("Make", ["fsx:CreateFileSystem", "fsx:TagResource"], file_systems, conditions=requested),
            Statement("ChangeOwn", ["fsx:DeleteFileSystem", "fsx:UpdateFileSystem"], file_systems, conditions=owned),
            Statement(
                "ServiceRole",
                ["iam:CreateServiceLinkedRole"],
                [linked],
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
            Statement("List", ["s3:ListBucket"], buckets, conditions=own_account),
            Statement("Read", ["s3:GetObject"], [f"{bucket}/*" for bucket in buckets], conditions=own_account),
        )
    )


_OWN: Final[Mapping[AddonName, Callable[[Scope], Inline | None]]] = {AddonName.FSX_CSI: _fsx, AddonName.S3_CSI: _s3}


def configuration(addon: AddonName, tags: Mapping[str, str], *, repair_gpus: bool) -> str | None:
    """`configurationValues` of an add-on as JSON with sorted keys; None if nothing differs from the defaults.

    Args:
        addon: The add-on.
        tags: Tags of the platform: the provider's default tags don't reach volumes that a driver creates.
        repair_gpus: Whether the node monitoring agent reports broken GPUs to node repair.
    """
    values = _values(addon, tags, repair_gpus=repair_gpus)
    return json.dumps(values, sort_keys=True) if values else None


def _values(addon: AddonName, tags: Mapping[str, str], *, repair_gpus: bool) -> dict[str, Any]:
    match addon:
        case AddonName.VPC_CNI:
            # A /28 prefix uses one address slot of a network interface, so addresses don't limit the pods of a node;
            # one prefix is kept warm, because attaching one takes seconds (EKS User Guide, "Assign more IP addresses to
            # nodes").
            env = {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": str(WARM_PREFIXES)}
            return {"enableNetworkPolicy": "true", "env": env}
        case AddonName.EBS_CSI:
            return {"controller": {"extraVolumeTags": dict(tags)}}
        case AddonName.S3_CSI:
            # GPU nodes are tainted, and training jobs on them mount buckets. Node pods of the other drivers tolerate
            # all taints by default; this driver's only since v2.7 (its chart's values.yaml).
            return {"node": {"tolerateAllTaints": True}}
        case AddonName.NODE_MONITORING_AGENT:
            return _monitoring(repair_gpus=repair_gpus)
        case _:
            return {}


def _monitoring(*, repair_gpus: bool) -> dict[str, Any]:
    """Where GPUs aren't repaired, the agent doesn't watch them: its reports could be false
    (docs/adr/0063-nodes-outlast-their-jobs.md). The switch exists from v1.6.0. With the watch, DCGM needs tolerations:
    its DaemonSet has none, and GPU nodes are tainted.
    """
    if repair_gpus:
        return {"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}
    return {"nodeAgent": {"monitors": {"nvidia": {"enabled": False}}}}


DRIVERS: Final = frozenset({AddonName.EBS_CSI, AddonName.EFS_CSI, AddonName.FSX_CSI, AddonName.S3_CSI})
"""Add-ons that create and mount volumes."""


class Phase(StrEnum):
    """When a set of add-ons is installed."""

    BEFORE_NODES = "early"
    """Becomes ACTIVE without a node: add-ons that nodes need, and DaemonSets that nothing depends on."""
    AFTER_NODES = "late"
    """Becomes ACTIVE only when a node runs its pods."""


@dataclass(frozen=True, kw_only=True)
class ManagedAddonsArgs:
    """Inputs of `ManagedAddons`.

    Attributes:
        cluster: The cluster.
        settings: Settings of add-ons that differ from the catalog, by add-on.
        phase: Which set to install.
        after: Dependencies: the system node groups, for add-ons that need nodes.
        buckets: Names or patterns of the S3 buckets that pods may mount; if empty, the driver has no role.
        repair_gpus: Whether the node monitoring agent reports broken GPUs to node repair.
        more_roles: Roles of further service accounts, by add-on and account.
        on_conflict: What EKS does with objects of the same add-on that something else installed.
    """

    cluster: ClusterOutputs
    settings: Mapping[AddonName, Addon]
    phase: Phase
    after: Sequence[pulumi.Resource] = ()
    buckets: Sequence[str] = ()
    repair_gpus: bool = False
    more_roles: Mapping[AddonName, Mapping[str, PodRole]] = field(default_factory=dict)
    on_conflict: Literal["OVERWRITE", "NONE"] = "OVERWRITE"


class ManagedAddons(pulumi.ComponentResource):
    """One set of EKS add-ons.

    Attributes:
        all: Add-ons by name.
        nodes_need: Add-ons without which no node becomes ready.
        drivers: Add-ons that create and mount volumes.
        roles: Roles by add-on, for those that have one.
    """

    PULUMI_TYPE: Final = "slipway:cluster:ManagedAddons"

    all: Mapping[AddonName, aws.eks.Addon]
    nodes_need: Sequence[aws.eks.Addon]
    drivers: Mapping[AddonName, aws.eks.Addon]
    roles: Mapping[AddonName, PodRole]

    def __init__(self, name: str, args: ManagedAddonsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        cluster = args.cluster
        self._scope = Scope(
            partition=cluster.partition, region=cluster.region, account_id=cluster.account_id, buckets=args.buckets
        )
        names = chosen(args.phase, args.settings)
        self.roles = {addon: role for addon in names if (role := self._role(addon, catalog.get(addon))) is not None}
        self.all = {addon: self._addon(addon) for addon in names}
        self.nodes_need = [resource for addon, resource in self.all.items() if catalog.get(addon).before_compute]
        self.drivers = {addon: resource for addon, resource in self.all.items() if addon in DRIVERS}
        self.register_outputs({})

    def _addon(self, addon: AddonName) -> aws.eks.Addon:
        cluster, wanted = self._args.cluster, self._args.settings.get(addon, Addon())
        facts = catalog.get(addon)
        roles = self._roles_by_account(addon)
        return aws.eks.Addon(
            f"{self._name}-{key_of(addon)}",
            cluster_name=cluster.known_as,
            addon_name=addon.value,
            addon_version=wanted.version or facts.version(cluster.version),
            configuration_values=configuration(addon, cluster.tags, repair_gpus=self._args.repair_gpus),
            pod_identity_associations=_associations(roles),
            resolve_conflicts_on_create=self._args.on_conflict,
            # Manual changes of an operator are kept.
            resolve_conflicts_on_update="PRESERVE",
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*self._args.after, *(one for role in roles.values() for one in role.ready)],
                deleted_with=cluster.resource,
            ),
        )

    def _roles_by_account(self, addon: AddonName) -> dict[str, PodRole]:
        more = self._args.more_roles.get(addon, {})
        return {**({catalog.get(addon).service_accounts[0]: self.roles[addon]} if addon in self.roles else {}), **more}

    def _role(self, addon: AddonName, facts: catalog.AddonFacts) -> PodRole | None:
        policy = permissions(addon, self._scope)
        if policy is None:
            return None
        return pod_identity_role(
            f"{self._name}-role-{key_of(addon)}",
            cluster_arn=self._args.cluster.arn,
            namespace=facts.namespace,
            service_account=facts.service_accounts[0],
            policy=policy,
            parent=self,
        )


def chosen(phase: Phase, settings: Mapping[AddonName, Addon]) -> list[AddonName]:
    """Enabled add-ons of a set, in the catalog's order."""
    wanted = [AddonName(name) for name, facts in catalog.ADDONS.items() if _phase(facts) is phase]
    return [name for name in wanted if settings.get(name, Addon()).enabled]


def key_of(addon: AddonName) -> str:
    """Short key of an add-on for logical names, `ebs-csi`: the name of an IAM role has at most 64 characters."""
    return addon.name.lower().replace("_", "-")


def _associations(roles: Mapping[str, PodRole]) -> list[aws.eks.AddonPodIdentityAssociationArgs] | None:
    return [
        aws.eks.AddonPodIdentityAssociationArgs(role_arn=role.arn, service_account=account)
        for account, role in roles.items()
    ] or None


def _phase(facts: catalog.AddonFacts) -> Phase:
    return Phase.AFTER_NODES if facts.needs_nodes else Phase.BEFORE_NODES

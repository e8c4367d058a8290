"""EKS add-ons, each with a role of its own if it calls AWS.

There are two sets, because an add-on with a Deployment is not ACTIVE before a node runs its pods (EKS waits for it up
to 20 minutes, terraform-aws-modules/terraform-aws-eks#3001), and nodes are not Ready before the CNI add-on runs. The
catalog says which add-on is in which set (`spec.catalog.addons`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.iam import PodRole, pod_identity_role
from components.base.outputs import ClusterOutputs
from components.cluster.addon_permissions import Scope, permissions
from components.cluster.addon_values import configuration
from spec.catalog import addons as catalog
from spec.settings.cluster import Addon, AddonName

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
    """

    cluster: ClusterOutputs
    settings: Mapping[AddonName, Addon]
    phase: Phase
    after: Sequence[pulumi.Resource] = ()
    buckets: Sequence[str] = ()
    repair_gpus: bool = False
    more_roles: Mapping[AddonName, Mapping[str, PodRole]] = field(default_factory=dict)


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
            cluster_name=cluster.resource.name,
            addon_name=addon.value,
            addon_version=wanted.version or facts.version(cluster.version),
            configuration_values=configuration(addon, cluster.tags, repair_gpus=self._args.repair_gpus),
            pod_identity_associations=_associations(roles),
            # A new cluster has nothing to preserve; later, manual changes of an operator are kept.
            resolve_conflicts_on_create="OVERWRITE",
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

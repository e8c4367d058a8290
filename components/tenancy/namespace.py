"""One namespace of a team and everything in it: quotas, RBAC, network policies, AWS identity, volumes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.base.iam import Inline, pod_identity_role
from components.base.kubernetes import declare
from components.base.outputs import ClusterOutputs, StorageOutputs
from components.storage.volumes import VolumeSettings, team_volumes
from components.tenancy.bounds import limit_range, namespace_manifest, priority_quota, resource_quota
from components.tenancy.network_policies import network_policies
from components.tenancy.roles import role_binding, roles_in_use, workflow_binding
from components.tenancy.workload_permissions import SERVICE_ACCOUNT, service_account_manifest, workload_policy
from spec.catalog import regions
from spec.pools.pool_spec import PoolSpec
from spec.settings.network import Network
from spec.settings.teams import MemberRole, Team, TeamNamespace
from spec.teams import labels


@dataclass(frozen=True, kw_only=True)
class TeamContext:
    """What all teams depend on.

    Attributes:
        cluster: The cluster.
        network: Settings of the network, for the CIDRs in network policies.
        pools: Pools by name.
        storage: Buckets and file systems.
        protect: Default of `retain`: protect data of teams from deletion.
        workflows: Whether Argo runs workflows with the service account of a namespace.
    """

    cluster: ClusterOutputs
    network: Network
    pools: Mapping[str, PoolSpec]
    storage: StorageOutputs
    protect: bool
    workflows: bool = False


@dataclass(frozen=True, kw_only=True)
class SpaceArgs:
    """Inputs of `Space`.

    Attributes:
        namespace: Full name of the namespace.
        settings: Its settings.
        team: Name of its team.
        team_settings: The team's settings.
        context: What all teams depend on.
    """

    namespace: str
    settings: TeamNamespace
    team: str
    team_settings: Team
    context: TeamContext

    @property
    def protect(self) -> bool:
        """Whether Pulumi protects resources with data from deletion. Those of a retired team aren't protected."""
        retain = self.team_settings.retain
        return (self.context.protect if retain is None else retain) and not self.team_settings.retired


class Space(pulumi.ComponentResource):
    """A namespace. Deleting it deletes every volume claim in it, so it is protected like them.

    Attributes:
        namespace: The Namespace.
        ready: Resources that must exist before a workload is created in it.
    """

    PULUMI_TYPE: Final = "slipway:tenancy:Space"

    namespace: pulumi.Resource
    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: SpaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        cluster = args.context.cluster
        self.namespace = declare(
            f"{name}-namespace",
            namespace_manifest(args.namespace, args.team, args.team_settings, args.settings),
            pulumi.ResourceOptions(
                parent=self, depends_on=list(cluster.access), deleted_with=cluster.resource, protect=args.protect
            ),
        )
        inside = pulumi.ResourceOptions(parent=self, depends_on=[self.namespace], deleted_with=cluster.resource)
        objects = [declare(f"{name}-{key}", manifest, inside) for key, manifest in manifests(args)]
        self.ready = (self.namespace, *objects, *self._identity(), *self._volumes())
        self.register_outputs({})

    def _identity(self) -> list[pulumi.Resource]:
        name, args = self._name, self._args
        cluster = args.context.cluster
        region = regions.get(cluster.region)
        policy = workload_policy(
            args.team,
            args.context.storage,
            f"s3.{region.name}.{region.dns_suffix}",
            workflows_in=args.namespace if args.context.workflows else None,
        )
        role = pod_identity_role(
            f"{name}-role",
            cluster_arn=cluster.arn,
            namespace=args.namespace,
            service_account=SERVICE_ACCOUNT,
            policy=Inline(document=policy),
            parent=self,
        )
        association = aws.eks.PodIdentityAssociation(
            f"{name}-association",
            cluster_name=cluster.resource.name,
            namespace=args.namespace,
            service_account=SERVICE_ACCOUNT,
            role_arn=role.arn,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return [*role.ready, association]

    def _volumes(self) -> list[pulumi.Resource]:
        """Volumes and claims; a claim depends on its volume, and both on the CSI drivers and classes."""
        args, storage = self._args, self._args.context.storage
        cluster = args.context.cluster
        settings = VolumeSettings(
            team=args.team, region=cluster.region, labels=labels.of_team(args.team, args.team_settings)
        )
        declared: dict[str, pulumi.Resource] = {}
        for key, manifest in team_volumes(args.namespace, storage, settings).items():
            volume = declared.get(f"{key}-volume")
            before = [self.namespace, *storage.ready, *([volume] if volume else [])]
            opts = pulumi.ResourceOptions(
                parent=self, depends_on=before, deleted_with=cluster.resource, protect=args.protect
            )
            declared[key] = declare(f"{self._name}-{key}", manifest, opts)
        return list(declared.values())


def manifests(args: SpaceArgs) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Quotas, RBAC and network policies of the namespace, by the suffix of their logical name."""
    namespace, team, pools = args.namespace, args.team_settings, args.context.pools
    yield "quota", resource_quota(namespace, args.settings, team, pools)
    if priorities := priority_quota(namespace, team):
        yield "priorities", priorities
    yield "limits", limit_range(namespace, team, pools)
    yield "account", service_account_manifest(namespace)
    if args.context.workflows:
        yield "binding-workflows", workflow_binding(namespace, SERVICE_ACCOUNT)
    for role in roles_in_use(team):
        bound = MemberRole.VIEW if team.retired else role
        yield f"binding-{role}", role_binding(namespace, args.team, role, bound=bound)
    for policy, manifest in network_policies(namespace, args.team, args.settings, args.context.network).items():
        yield f"network-{policy}", manifest

"""A team and its queue by themselves, on a cluster that has Kueue: for programs that have no stack file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

import pulumi

from components.base.kubernetes import ObjectsArgs
from components.base.outputs import Cluster
from components.queues import Queues, QueuesArgs, TeamQueueArgs, resource_flavor
from components.queues import TeamQueue as Queue
from components.tenancy.namespace import TeamContext
from components.tenancy.roles import TeamRoles, cluster_role_manifest, roles_in_use
from components.tenancy.team import Team, TeamArgs, TeamOutputs
from spec.pools.pool_spec import PoolSpec
from spec.settings.parts import alone
from spec.settings.queues import Queues as Settings
from spec.settings.teams import Team as TeamSettings


@dataclass(frozen=True, kw_only=True)
class QueuedTeamArgs:
    """Inputs of `QueuedTeam`.

    Attributes:
        cluster: The cluster.
        pools: Pools of which the team has shares.
        settings: The team as in a stack file: `{"project": "llm", "costCenter": "ml", "gpus": {...}}`.
        team: Its name, and that of its namespace and queue; the logical name by default.
        queues: Cohort and behavior of the queue.
        flavors: Names of ResourceFlavors that exist, by pool; a pool without one gets `TEAM-POOL`.
        roles: Prefix of the names of its ClusterRoles; the team's name by default.
        protect: Protect its namespaces from deletion.
        after: What Kueue needs, if the same program makes it.
    """

    cluster: Cluster
    pools: Sequence[PoolSpec]
    settings: Annotated[Mapping[str, Any], TeamSettings]
    team: str = ""
    queues: Settings = field(default_factory=Settings)
    flavors: Mapping[str, str] = field(default_factory=dict)
    roles: str = ""
    protect: bool = False
    after: Sequence[pulumi.Resource] = ()


class QueuedTeam(pulumi.ComponentResource):
    """Namespaces with quota, roles and network policies, access entries of members, and the queue; nothing that another
    team or another program on the cluster has, too.

    Attributes:
        outputs: The team, for queues and workloads.

    Raises:
        ConfigurationError: For settings that a stack file may not have either.
    """

    PULUMI_TYPE: Final = "slipway:tenancy:QueuedTeam"

    outputs: TeamOutputs

    def __init__(self, name: str, args: QueuedTeamArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        team, cluster, child = args.team or name, args.cluster, pulumi.ResourceOptions(parent=self)
        pools = {spec.name: spec for spec in args.pools}
        settings = alone(
            TeamSettings, team, args.settings, {"pools": {key: one.settings for key, one in pools.items()}}
        )
        prefix = args.roles or team
        roles = {str(role): cluster_role_manifest(role, prefix) for role in roles_in_use(settings)}
        TeamRoles(f"{name}-roles", ObjectsArgs(objects=roles, cluster=cluster), child)
        context = TeamContext(pools=pools, cluster=cluster, protect=args.protect, roles=prefix)
        self.outputs = Team(f"{name}-team", TeamArgs(team=team, settings=settings, context=context), child).outputs
        made = {key: f"{team}-{key}" for key in settings.shares if key not in args.flavors}
        flavors = {
            f"flavor-{key}": resource_flavor(pools[key], args.queues) | {"metadata": {"name": flavor}}
            for key, flavor in made.items()
        }
        Queues(f"{name}-flavors", ObjectsArgs(objects=flavors, cluster=cluster, after=args.after), child)
        shared = QueuesArgs(settings=args.queues, pools=pools, cluster=cluster, kueue=args.after)
        inputs = TeamQueueArgs(team=self.outputs, shared=replace(shared, flavors={**args.flavors, **made}))
        Queue(f"{name}-queue", inputs, child)
        self.register_outputs({})

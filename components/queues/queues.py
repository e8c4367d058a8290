"""Objects that all queues share: flavors, the cohort, topologies, workload priorities, MultiKueue workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.base.kubernetes import declare
from components.base.outputs import ClusterOutputs
from components.queues.flavors import API, by_topology, ordered, resource_flavor, topology
from components.queues.remote import remote_manifests
from components.queues.team_queue import TeamQueue, TeamQueueArgs
from components.tenancy.priorities import workload_priority_class
from components.tenancy.team import TeamOutputs
from spec.pools.pool_spec import PoolSpec
from spec.settings.queues import Queues as Settings
from spec.settings.teams import PriorityName


def cohort(settings: Settings) -> dict[str, Any]:
    """The cohort of all teams. It has no quota of its own: teams borrow each other's unused quota."""
    return {"apiVersion": API, "kind": "Cohort", "metadata": {"name": settings.cohort}, "spec": {}}


def shared_manifests(pools: Mapping[str, PoolSpec], settings: Settings) -> dict[str, dict[str, Any]]:
    """Manifests that no team owns, by the suffix of their logical name."""
    shared = ordered(pools.values(), settings)
    topologies = {f"topology-{spec.name}": topology(spec) for spec in shared if by_topology(spec, settings)}
    flavors = {f"flavor-{spec.name}": resource_flavor(spec, settings) for spec in shared}
    priorities = {f"priority-{name}": workload_priority_class(name) for name in PriorityName}
    return {"cohort": cohort(settings), **topologies, **flavors, **priorities, **remote_manifests(settings)}


@dataclass(frozen=True, kw_only=True)
class QueuesArgs:
    """Inputs of `Queues`.

    Attributes:
        settings: Settings of all queues.
        pools: Pools by name.
        cluster: The cluster.
        kueue: Dependencies for Kueue's CRDs and webhooks.
    """

    settings: Settings
    pools: Mapping[str, PoolSpec]
    cluster: ClusterOutputs
    kueue: Sequence[pulumi.Resource]


class Queues(pulumi.ComponentResource):
    """Objects that all queues share. A new pool adds its flavor; a new team adds nothing."""

    PULUMI_TYPE: Final = "slipway:queues:Queues"

    def __init__(self, name: str, args: QueuesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=list(args.kueue), deleted_with=args.cluster.resource)
        manifests = shared_manifests(args.pools, args.settings)
        for key, manifest in manifests.items():
            declare(f"{name}-{key}", manifest, child)
        self.register_outputs({"flavors": [spec.name for spec in ordered(args.pools.values(), args.settings)]})


def queues(
    args: QueuesArgs, teams: Mapping[str, TeamOutputs], opts: pulumi.ResourceOptions
) -> dict[str, Sequence[pulumi.Resource]]:
    """Declare the queues of all teams; return the dependencies of jobs by team. Does nothing if there is no team."""
    if not teams:
        return {}
    Queues("queues", args, opts)
    ready = {}
    for name, team in sorted(teams.items()):
        inputs = TeamQueueArgs(
            team=team, settings=args.settings, pools=args.pools, cluster=args.cluster, kueue=args.kueue
        )
        ready[name] = TeamQueue(f"queue-{name}", inputs, opts).ready
    return ready

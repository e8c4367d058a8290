"""What all queues share: flavors of the pools, the cohort, topologies, priorities of queued work, workers."""

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
    """The cohort of all teams. It has no quota of its own: what is shared is what teams lend."""
    return {"apiVersion": API, "kind": "Cohort", "metadata": {"name": settings.cohort}, "spec": {}}


def shared_manifests(pools: Mapping[str, PoolSpec], settings: Settings) -> dict[str, dict[str, Any]]:
    """Everything that no team owns, by the end of its logical name."""
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
        kueue: Kueue, whose CRDs and webhooks all of this needs.
    """

    settings: Settings
    pools: Mapping[str, PoolSpec]
    cluster: ClusterOutputs
    kueue: Sequence[pulumi.Resource]


class Queues(pulumi.ComponentResource):
    """What all queues share. A new pool adds its flavor, and a new team nothing at all."""

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
    """Make the queues of all teams; give what a job of each team waits for. Nothing where there is no team."""
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

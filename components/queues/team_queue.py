"""The queue of one team: its ClusterQueue, and a LocalQueue in each of its namespaces.

All resources are in one group, because a resource may be in one group only and processors and memory belong to every
flavor: so one flavor is found for all that a pod asks for, and its processors can't come from one pool and its GPUs
from another. A flavor has a quota of zero of what its pool does not offer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.addons.kueue.configuration import NOT_COUNTED
from components.base.kubernetes import declare
from components.base.outputs import ClusterOutputs
from components.queues.flavors import API, ordered
from components.queues.remote import admission_checks
from components.tenancy.team import TeamOutputs
from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, MEMORY, quantity
from spec.settings.queues import Queues
from spec.settings.teams import Share, Team
from spec.teams import labels
from spec.teams.shares import amounts, resources_of

LOCAL_QUEUE: Final = "default"
"""Jobs that name no queue go to the one of this name."""


def cluster_queue(name: str, team: Team, pools: Mapping[str, PoolSpec], settings: Queues) -> dict[str, Any]:
    """The ClusterQueue of a team.

    A retired team's is drained: what runs is stopped and nothing starts.
    """
    shared = [spec for spec in ordered(pools.values(), settings) if spec.name in team.shares]
    covered = _covered(shared)
    flavors = [{"name": spec.name, "resources": _quotas(spec, team.shares[spec.name], covered)} for spec in shared]
    return {
        "apiVersion": API,
        "kind": "ClusterQueue",
        "metadata": {"name": name, "labels": labels.of_team(name, team)},
        "spec": {
            "cohortName": settings.cohort,
            "namespaceSelector": {"matchLabels": {labels.TEAM: name}},
            "queueingStrategy": settings.queueing_strategy,
            "fairSharing": {"weight": str(team.weight)},
            # Borrow on the first flavor rather than go on to a dearer machine; go on rather than stop somebody's work.
            "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
            "preemption": {
                "reclaimWithinCohort": settings.reclaim_within_cohort,
                "withinClusterQueue": settings.within_cluster_queue,
            },
            "resourceGroups": [{"coveredResources": covered, "flavors": flavors}],
            "stopPolicy": "HoldAndDrain" if team.retired else "None",
            **admission_checks(settings),
        },
    }


def _covered(pools: Sequence[PoolSpec]) -> list[str]:
    """Resources that a quota is kept for: processors and memory first, then what the pools offer, by name."""
    offered = {name for spec in pools for name in resources_of(spec)} - {CPU, MEMORY}
    return [CPU, MEMORY, *sorted(name for name in offered if not name.startswith(NOT_COUNTED))]


def _quotas(spec: PoolSpec, share: Share, covered: Sequence[str]) -> list[dict[str, str]]:
    nominal, borrowed, lendable = (
        amounts(spec, part) for part in (share.nominal_quota, share.borrowing_limit, share.lendable)
    )
    rows = []
    for name in covered:
        row = {"name": name, "nominalQuota": quantity(name, nominal.get(name, 0))}
        row["borrowingLimit"] = quantity(name, borrowed.get(name, 0))
        # All of it is lent where nothing is said.
        rows.append(
            row if share.lending_limit is None else {**row, "lendingLimit": quantity(name, lendable.get(name, 0))}
        )
    return rows


def local_queue(namespace: str, team: str) -> dict[str, Any]:
    """The way into the team's queue from one of its namespaces."""
    return {
        "apiVersion": API,
        "kind": "LocalQueue",
        "metadata": {"name": LOCAL_QUEUE, "namespace": namespace},
        "spec": {"clusterQueue": team},
    }


@dataclass(frozen=True, kw_only=True)
class TeamQueueArgs:
    """Inputs of `TeamQueue`.

    Attributes:
        team: The team.
        settings: Settings of all queues.
        pools: Pools by name.
        cluster: The cluster.
        kueue: Kueue, whose CRDs and webhooks these need. Cohort and flavors are no need: Kueue takes a queue as active
            as soon as all that it names is there.
    """

    team: TeamOutputs
    settings: Queues
    pools: Mapping[str, PoolSpec]
    cluster: ClusterOutputs
    kueue: Sequence[pulumi.Resource]


class TeamQueue(pulumi.ComponentResource):
    """The queue of one team.

    Attributes:
        ready: What must stand before a job is queued.
    """

    PULUMI_TYPE: Final = "slipway:queues:TeamQueue"

    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: TeamQueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        cluster, team = args.cluster.resource, args.team
        manifest = cluster_queue(team.name, team.settings, args.pools, args.settings)
        after = pulumi.ResourceOptions(parent=self, depends_on=list(args.kueue), deleted_with=cluster)
        made = [declare(f"{name}-cluster-queue", manifest, after)]
        for namespace, ready in team.namespaces.items():
            before = [*args.kueue, *ready[:1]]
            inside = pulumi.ResourceOptions(parent=self, depends_on=before, deleted_with=cluster)
            made.append(declare(f"{name}-local-queue-{namespace}", local_queue(namespace, team.name), inside))
        self.ready = made
        self.register_outputs({"name": team.name, "quotas": quotas(manifest)})


def quotas(manifest: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Nominal quotas by flavor and resource, in plain values for policies over all queues."""
    (group,) = manifest["spec"]["resourceGroups"]
    return {
        flavor["name"]: {row["name"]: row["nominalQuota"] for row in flavor["resources"]} for flavor in group["flavors"]
    }

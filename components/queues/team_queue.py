"""The queue of one team: a ClusterQueue, and a LocalQueue in each of its namespaces.

All resources are in one resource group, because a resource can be in only one group and CPU and memory belong to every
flavor: so a pod gets one flavor for all its requests, and its CPU and GPUs can't come from different pools. A flavor
has zero quota for resources that its pool doesn't offer.
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
"""Name of the LocalQueue for jobs that name none."""


def cluster_queue(name: str, team: Team, pools: Mapping[str, PoolSpec], settings: Queues) -> dict[str, Any]:
    """The ClusterQueue of a team.

    That of a retired team is drained: running workloads are evicted and none starts.
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
            # Borrow in the first flavor rather than try a more expensive one; try the next rather than preempt.
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
    """Resources with a quota: CPU and memory first, then those that the pools offer, by name."""
    offered = {name for spec in pools for name in resources_of(spec)} - {CPU, MEMORY}
    return [CPU, MEMORY, *sorted(name for name in offered if not name.startswith(NOT_COUNTED))]


def _quotas(spec: PoolSpec, share: Share, covered: Sequence[str]) -> list[dict[str, str]]:
    nominal, borrowed, lendable = (
        amounts(spec, part) for part in (share.nominal_quota, share.borrowing_limit, share.lendable)
    )
    resources = []
    for name in covered:
        resource = {"name": name, "nominalQuota": quantity(name, nominal.get(name, 0))}
        resource["borrowingLimit"] = quantity(name, borrowed.get(name, 0))
        # Without a lendingLimit all unused quota can be borrowed.
        resources.append(
            resource
            if share.lending_limit is None
            else {**resource, "lendingLimit": quantity(name, lendable.get(name, 0))}
        )
    return resources


def local_queue(namespace: str, team: str) -> dict[str, Any]:
    """The LocalQueue of a namespace, which points to the team's ClusterQueue."""
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
        kueue: Dependencies for Kueue's CRDs and webhooks. Cohort and flavors aren't dependencies: Kueue activates a
            queue as soon as everything that it refers to exists.
    """

    team: TeamOutputs
    settings: Queues
    pools: Mapping[str, PoolSpec]
    cluster: ClusterOutputs
    kueue: Sequence[pulumi.Resource]


class TeamQueue(pulumi.ComponentResource):
    """The queue of one team.

    Attributes:
        ready: Resources that must exist before a job is queued.
    """

    PULUMI_TYPE: Final = "slipway:queues:TeamQueue"

    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: TeamQueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        cluster, team = args.cluster.resource, args.team
        manifest = cluster_queue(team.name, team.settings, args.pools, args.settings)
        after = pulumi.ResourceOptions(parent=self, depends_on=list(args.kueue), deleted_with=cluster)
        declared = [declare(f"{name}-cluster-queue", manifest, after)]
        for namespace, ready in team.namespaces.items():
            before = [*args.kueue, *ready[:1]]
            inside = pulumi.ResourceOptions(parent=self, depends_on=before, deleted_with=cluster)
            declared.append(declare(f"{name}-local-queue-{namespace}", local_queue(namespace, team.name), inside))
        self.ready = declared
        self.register_outputs({"name": team.name, "quotas": quotas(manifest)})


def quotas(manifest: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Nominal quotas by flavor and resource, as plain values for the policy pack."""
    (group,) = manifest["spec"]["resourceGroups"]
    return {
        flavor["name"]: {resource["name"]: resource["nominalQuota"] for resource in flavor["resources"]}
        for flavor in group["flavors"]
    }

"""Kueue's objects: queues, quotas, flavors and priorities, by which teams share the pools.

ResourceFlavors: one for each pool that teams share, with the pool's name, built from its labels and taints.

How a job gets a pool: Kueue tries the flavors of the team's queue in order. It skips flavors whose labels contradict
the job's node selector, whose taints the job doesn't tolerate, or whose quota is used up, and adds the labels and
tolerations of the assigned flavor to the job. The taint `nvidia.com/gpu` is in `nodeTaints` of a flavor and not in its
tolerations: so jobs that request no GPU never use the CPUs of GPU nodes. So is that of arm64 nodes: they get only jobs
that say that their images are built for them. Kueue adds the tolerations for all other taints (CRD of ResourceFlavor,
`nodeTaints`: "Workloads' podsets must have tolerations for these nodeTaints in order to get assigned this
ResourceFlavor"; kueue 0.19.2).

MultiKueue on a manager cluster: manifests of the worker clusters that its queues dispatch to.

A worker needs none of these: it has the same teams in its own stack file, and so the namespaces and queues for the
manager's copies of jobs, and in each namespace a binding by which the manager creates them
(`components.addons.multikueue`). The kubeconfig of a worker is in a Secret that is created outside the stack, because
it is a credential.

The queue of one team: a ClusterQueue, and a LocalQueue in each of its namespaces.

All resources are in one resource group, because a resource can be in only one group and CPU and memory belong to every
flavor: so a pod gets one flavor for all its requests, and its CPU and GPUs can't come from different pools. A flavor
has zero quota for resources that its pool doesn't offer.

"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

import pulumi

from components.addons import multikueue
from components.addons.kueue import NOT_COUNTED
from components.base.kubernetes import Objects, ObjectsArgs, declare
from components.base.operator import object_of
from components.base.outputs import Cluster
from components.tenancy.priorities import workload_priority_class
from components.tenancy.team import TeamOutputs
from spec.jobs import KUEUE_API
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, MEMORY, quantity
from spec.settings.capacity import Market
from spec.settings.queues import Queues as Settings
from spec.settings.teams import PriorityName, Share, Team
from spec.teams import labels
from spec.teams.shares import amounts, resources_of, shareable

_RANK: Final = (Market.RESERVED, Market.ON_DEMAND, Market.SPOT)  # at the same price, prepaid capacity comes first
_EXPENSIVE: Final = Decimal("Infinity")


def ordered(pools: Iterable[PoolSpec], settings: Settings) -> list[PoolSpec]:
    """Shared pools, in the order in which Kueue tries them for a job that selects none.

    CPU pools, then GPU pools; pools in the order of the settings; Spot first if configured; then by the list price per
    GPU or vCPU.
    """
    order = settings.pool_order

    def rank(spec: PoolSpec) -> tuple[bool, int, bool, Decimal, int, str]:
        place = order.index(spec.name) if spec.name in order else len(order)
        late = settings.spot_first and spec.market is not Market.SPOT
        return (spec.gpu is not None, place, late, unit_price(spec), _RANK.index(spec.market), spec.name)

    return sorted((spec for spec in pools if shareable(spec)), key=rank)


def unit_price(spec: PoolSpec) -> Decimal:
    """Lowest on-demand price per GPU, or vCPU, of a pool in USD per hour; infinite if no instance type has a price."""
    prices = [
        kind.usd_per_hour / (spec.gpu_count or kind.vcpus)
        for kind in spec.instance_types
        if kind.usd_per_hour is not None
    ]
    return min(prices, default=_EXPENSIVE)


def by_topology(spec: PoolSpec, settings: Settings) -> bool:
    """Whether Kueue uses topology-aware scheduling on a pool.

    Only on pools whose nodes always exist: Kueue counts only ready nodes, and requests missing ones with
    ProvisioningRequests, which Karpenter doesn't support; on an elastic pool nothing would ever be admitted. Elastic
    pools use a placement group instead. MultiKueue stops a queue whose flavor has a topology (both: kueue.sigs.k8s.io,
    "Topology Aware Scheduling", 0.19). Nodes with claims of devices report no GPUs, of which Kueue would count none
    (kueue v0.19.2, pkg/cache/scheduler/tas_flavor_snapshot.go).
    """
    return settings.topology and spec.efa_count > 0 and not spec.scales and not spec.dra and not settings.workers


def with_topology(pools: Mapping[str, PoolSpec], settings: Settings) -> frozenset[str]:
    """Names of the pools to which Kueue admits only pods with an annotation of their topology."""
    return frozenset(name for name, spec in pools.items() if by_topology(spec, settings))


def resource_flavor(spec: PoolSpec, settings: Settings) -> dict[str, Any]:
    """The flavor of a pool."""
    node_taints = [taint for taint in spec.taints if taint.key in keys.OF_PODS]
    tolerated = [taint for taint in spec.taints if taint.key not in keys.OF_PODS]
    body: dict[str, Any] = {"nodeLabels": dict(spec.node_selector)}
    if node_taints:
        body["nodeTaints"] = [taint.manifest for taint in node_taints]
    if tolerated:
        body["tolerations"] = [taint.toleration.manifest for taint in tolerated]
    if by_topology(spec, settings):
        body["topologyName"] = spec.name
    return {"apiVersion": KUEUE_API, "kind": "ResourceFlavor", "metadata": {"name": spec.name}, "spec": body}


LEVELS: Final = (
    "topology.k8s.aws/network-node-layer-1",
    "topology.k8s.aws/network-node-layer-2",
    "topology.k8s.aws/network-node-layer-3",
    "kubernetes.io/hostname",
)
"""Layers of EC2's network, from the widest, in the labels that the cloud provider sets on nodes of supported types
(kubernetes/cloud-provider-aws, pkg/providers/v1/topology.go; EC2 User Guide, "Amazon EC2 topology"), and the node."""


def topology(spec: PoolSpec) -> dict[str, Any]:
    """The Topology of a pool: the levels at which a job can request to be placed together."""
    levels = [{"nodeLabel": label} for label in LEVELS]
    return {"apiVersion": KUEUE_API, "kind": "Topology", "metadata": {"name": spec.name}, "spec": {"levels": levels}}


NAME: Final = "multikueue"  # name of the AdmissionCheck and of its configuration


def remote_manifests(settings: Settings) -> dict[str, dict[str, Any]]:
    """Workers, their order, and the AdmissionCheck that dispatches to them, by the suffix of the logical name; empty if
    there are no workers."""
    if not settings.workers:
        return {}
    clusters = {f"worker-{name}": _cluster(name, worker.secret) for name, worker in sorted(settings.workers.items())}
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": NAME}
    check = {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}
    return {
        **clusters,
        "workers": _manifest("MultiKueueConfig", NAME, {"clusters": sorted(settings.workers)}),
        "check": _manifest("AdmissionCheck", NAME, check),
    }


def admission_checks(settings: Settings) -> dict[str, Any]:
    """The part of a ClusterQueue that dispatches its workloads to workers, for all or some flavors."""
    if not settings.workers:
        return {}
    check: dict[str, Any] = {"name": NAME}
    if settings.remote_pools:
        check["onFlavors"] = sorted(settings.remote_pools)
    return {"admissionChecksStrategy": {"admissionChecks": [check]}}


def _cluster(name: str, secret: str) -> dict[str, Any]:
    source = {"kubeConfig": {"location": secret, "locationType": "Secret"}}
    return _manifest("MultiKueueCluster", name, {"clusterSource": source})


def _manifest(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": KUEUE_API, "kind": kind, "metadata": {"name": name}, "spec": spec}


LOCAL_QUEUE: Final = "default"  # name of the LocalQueue for jobs that name none


def cluster_queue(
    name: str,
    team: Team,
    pools: Mapping[str, PoolSpec],
    settings: Settings,
    flavors: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """The ClusterQueue of a team; `flavors` are names of ResourceFlavors that differ from their pool's.

    That of a retired team is drained: running workloads are evicted and none starts.
    """
    shared = [spec for spec in ordered(pools.values(), settings) if spec.name in team.shares]
    covered = _covered(shared)
    resources = [
        {"name": flavors.get(spec.name, spec.name), "resources": _quotas(spec, team.shares[spec.name], covered)}
        for spec in shared
    ]
    return {
        "apiVersion": KUEUE_API,
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
            "resourceGroups": [{"coveredResources": covered, "flavors": resources}],
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


def local_queue(namespace: str, team: str, name: str = LOCAL_QUEUE) -> dict[str, Any]:
    """A LocalQueue of a namespace, which points to the team's ClusterQueue."""
    return object_of(KUEUE_API, "LocalQueue", name, namespace, spec={"clusterQueue": team})


def local_queues(namespace: str, team: str, settings: Settings) -> dict[str, dict[str, Any]]:
    """The LocalQueues of a namespace, by the suffix of their logical name."""
    more = {f"{namespace}.{name}": local_queue(namespace, team, name) for name in settings.aliases}
    return {namespace: local_queue(namespace, team), **more}


@dataclass(frozen=True, kw_only=True)
class QueuesArgs:
    """Inputs of all queues.

    Attributes:
        settings: Settings of all queues.
        pools: Pools by name.
        cluster: The cluster.
        kueue: Dependencies for Kueue's CRDs and webhooks. Cohort and flavors aren't dependencies: Kueue activates a
            queue as soon as everything that it refers to exists.
        worker: Whether a MultiKueue manager creates workloads here.
        flavors: Names of ResourceFlavors that differ from their pool's.
    """

    settings: Settings
    pools: Mapping[str, PoolSpec]
    cluster: Cluster
    kueue: Sequence[pulumi.Resource]
    worker: bool = False
    flavors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TeamQueueArgs:
    """Inputs of `TeamQueue`.

    Attributes:
        team: The team.
        shared: Inputs of all queues.
    """

    team: TeamOutputs
    shared: QueuesArgs


class TeamQueue(pulumi.ComponentResource):
    """The queue of one team.

    Attributes:
        ready: Resources that must exist before a job is queued.
    """

    PULUMI_TYPE: Final = "slipway:queues:TeamQueue"

    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: TeamQueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        shared, team = args.shared, args.team
        cluster = shared.cluster.resource
        manifest = cluster_queue(team.name, team.settings, shared.pools, shared.settings, shared.flavors)
        after = pulumi.ResourceOptions(parent=self, depends_on=list(shared.kueue), deleted_with=cluster)
        declared = [declare(f"{name}-cluster-queue", manifest, after)]
        for namespace, ready in team.namespaces.items():
            before = [*shared.kueue, *ready[:1]]
            inside = pulumi.ResourceOptions(parent=self, depends_on=before, deleted_with=cluster)
            named = local_queues(namespace, team.name, shared.settings)
            declared.extend(declare(f"{name}-local-queue-{key}", each, inside) for key, each in named.items())
            if shared.worker:
                declared.append(declare(f"{name}-manager-{namespace}", multikueue.team_binding(namespace), inside))
        self.ready = declared
        self.register_outputs({"name": team.name, "quotas": quotas(manifest)})


def quotas(manifest: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Nominal quotas by flavor and resource, as plain values for the policy pack."""
    (group,) = manifest["spec"]["resourceGroups"]
    return {
        flavor["name"]: {resource["name"]: resource["nominalQuota"] for resource in flavor["resources"]}
        for flavor in group["flavors"]
    }


def cohort(settings: Settings) -> dict[str, Any]:
    """The cohort of all teams. It has no quota of its own: teams borrow each other's unused quota."""
    return {"apiVersion": KUEUE_API, "kind": "Cohort", "metadata": {"name": settings.cohort}, "spec": {}}


def shared_manifests(pools: Mapping[str, PoolSpec], settings: Settings) -> dict[str, dict[str, Any]]:
    """Manifests that no team owns, by the suffix of their logical name."""
    shared = ordered(pools.values(), settings)
    topologies = {f"topology-{spec.name}": topology(spec) for spec in shared if by_topology(spec, settings)}
    flavors = {f"flavor-{spec.name}": resource_flavor(spec, settings) for spec in shared}
    priorities = {f"priority-{name}": workload_priority_class(name) for name in PriorityName}
    return {"cohort": cohort(settings), **topologies, **flavors, **priorities, **remote_manifests(settings)}


class Queues(Objects):
    """Objects that all queues share. A new pool adds its flavor; a new team adds nothing."""

    PULUMI_TYPE = "slipway:queues:Queues"


def queues(
    args: QueuesArgs, teams: Mapping[str, TeamOutputs], opts: pulumi.ResourceOptions
) -> dict[str, Sequence[pulumi.Resource]]:
    """Declare the queues of all teams; return the dependencies of jobs by team. Does nothing if there is no team."""
    if not teams:
        return {}
    flavors = [spec.name for spec in ordered(args.pools.values(), args.settings)]
    objects = shared_manifests(args.pools, args.settings)
    shared = ObjectsArgs(objects=objects, cluster=args.cluster, after=args.kueue, facts={"flavors": flavors})
    Queues("queues", shared, opts)
    return {
        name: TeamQueue(f"queue-{name}", TeamQueueArgs(team=team, shared=args), opts).ready
        for name, team in sorted(teams.items())
    }

"""What bounds a namespace: ResourceQuota and LimitRange, as manifests.

Kueue decides what of a team's queued work runs, over all of its namespaces; a ResourceQuota is the wall behind it, for
what was never queued. It is therefore no narrower than the queue: a job that Kueue has admitted and that a quota then
refuses would wait for ever, with an event on the Job as the only sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, MEMORY, format_mebibytes, percent, quantity, total
from spec.settings.teams import PriorityName, Team, TeamNamespace
from spec.teams import labels
from spec.teams.shares import largest_node, maximum

_MIB_PER_GIB: Final = 1024
_GPUS: Final = "nvidia.com/"

OBJECTS: Final[Mapping[str, int]] = {
    "configmaps": 500,
    "count/cronjobs.batch": 50,
    "count/jobs.batch": 500,
    "persistentvolumeclaims": 100,
    "secrets": 200,
    "services": 100,
    "services.loadbalancers": 0,
    "services.nodeports": 0,
}
"""Objects in one namespace at most: a loop that makes them fills etcd, and each pod's start lists some of them. A load
balancer of one's own is money and a way in past the ingress, so there is none."""

DEFAULTS: Final[Mapping[str, Mapping[str, str]]] = {
    # What a container has that says nothing: enough for a sidecar, too little for anything that should have said.
    "defaultRequest": {CPU: "250m", MEMORY: "512Mi"},
    "default": {MEMORY: "2Gi"},
}


def resource_quota(namespace: str, space: TeamNamespace, team: Team, pools: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """The bound of one namespace: machines, storage, objects."""
    everything = {name: 0 for spec in pools.values() for name in spec.resources}
    # Zero of what the team has no share of: what a quota does not name is without bound.
    amounts = percent(total([everything, maximum(team, pools)]), space.share)
    storage = percent({"storage": team.storage_gib * _MIB_PER_GIB}, space.share)["storage"]
    machines = {f"requests.{name}": quantity(name, amount) for name, amount in amounts.items() if _bounded(name)}
    hard = {
        **machines,
        "requests.storage": format_mebibytes(storage),
        "pods": str(team.pods),
        **{name: str(count) for name, count in OBJECTS.items()},
    }
    return _object("v1", "ResourceQuota", "team", namespace, {"hard": dict(sorted(hard.items()))})


def _bounded(resource: str) -> bool:
    """EFA adapters go with their GPUs, and only what has a GPU can use them."""
    return resource in (CPU, MEMORY) or resource.startswith(_GPUS)


def priority_quota(namespace: str, team: Team) -> dict[str, Any] | None:
    """No pod of a priority that the team may not use; None where it may use all of them."""
    refused = [str(name) for name in PriorityName if name not in team.priorities]
    if not refused:
        return None
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": refused}]}
    return _object("v1", "ResourceQuota", "priorities", namespace, {"hard": {"pods": "0"}, "scopeSelector": selector})


def limit_range(namespace: str, team: Team, pools: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """Defaults of containers that say nothing, and the largest node as the most that one may ask for.

    GPUs are not in it: what a LimitRange bounds becomes every container's default limit, and each sidecar would get
    them (kubernetes, pkg/apis/core/v1/defaults.go, SetDefaults_LimitRangeItem; 1.35).
    """
    top = {name: quantity(name, amount) for name, amount in largest_node(team, pools).items()}
    container = {
        "type": "Container",
        "defaultRequest": dict(DEFAULTS["defaultRequest"]),
        "default": {CPU: top[CPU], **DEFAULTS["default"]},
        "max": top,
    }
    return _object("v1", "LimitRange", "team", namespace, {"limits": [container]})


def _object(version: str, kind: str, name: str, namespace: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": dict(spec),
    }


def namespace_manifest(name: str, team: str, settings: Team, space: TeamNamespace) -> dict[str, Any]:
    """The namespace itself."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": labels.of_namespace(team, settings, space)},
    }

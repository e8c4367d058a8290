"""Limits of a namespace: manifests of ResourceQuota and LimitRange.

Kueue limits a team's queued workloads over all of its namespaces; a ResourceQuota also limits what isn't queued. It is
never smaller than the queue's quota: a job that Kueue admits but a ResourceQuota refuses would stay pending forever,
with only an event on the Job.
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
"""Maximum number of objects in one namespace: a runaway loop would fill etcd, and each pod's start lists some of them.
Services of type LoadBalancer cost money and bypass the ingress, so none is allowed."""

DEFAULTS: Final[Mapping[str, Mapping[str, str]]] = {
    # Defaults of a container without requests: enough for a sidecar, too little for a real workload.
    "defaultRequest": {CPU: "250m", MEMORY: "512Mi"},
    "default": {MEMORY: "2Gi"},
}


def resource_quota(namespace: str, space: TeamNamespace, team: Team, pools: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """The ResourceQuota of one namespace: compute, storage, objects."""
    everything = {name: 0 for spec in pools.values() for name in spec.resources}
    # Zero for resources without a share: what a ResourceQuota doesn't name is unlimited.
    amounts = percent(total([everything, maximum(team, pools)]), space.share)
    storage = percent({"storage": team.storage_gib * _MIB_PER_GIB}, space.share)["storage"]
    compute = {f"requests.{name}": quantity(name, amount) for name, amount in amounts.items() if _bounded(name)}
    hard = {
        **compute,
        "requests.storage": format_mebibytes(storage),
        "pods": str(team.pods),
        **{name: str(count) for name, count in OBJECTS.items()},
    }
    return _object("v1", "ResourceQuota", "team", namespace, {"hard": dict(sorted(hard.items()))})


def _bounded(resource: str) -> bool:
    """Whether a resource needs a quota. EFA adapters don't: they come with GPUs, and only pods with GPUs use them."""
    return resource in (CPU, MEMORY) or resource.startswith(_GPUS)


def priority_quota(namespace: str, team: Team) -> dict[str, Any] | None:
    """A ResourceQuota that forbids priority classes that the team may not use; None if it may use all of them."""
    refused = [str(name) for name in PriorityName if name not in team.priorities]
    if not refused:
        return None
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": refused}]}
    return _object("v1", "ResourceQuota", "priorities", namespace, {"hard": {"pods": "0"}, "scopeSelector": selector})


def limit_range(namespace: str, team: Team, pools: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """Default requests of containers, and the largest node as their maximum.

    It excludes GPUs: a maximum in a LimitRange becomes every container's default limit, so each sidecar would get GPUs
    (kubernetes, pkg/apis/core/v1/defaults.go, SetDefaults_LimitRangeItem; 1.35).
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
    """The Namespace."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": labels.of_namespace(team, settings, space),
            "annotations": labels.notes_of_namespace(settings),
        },
    }

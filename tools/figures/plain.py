"""Two baselines as plans for the same engine: a default EKS cluster with Karpenter, and FIFO with backfill.

Every pod gets whole GPUs on nodes of its pool's instance types, as the stack buys them: no shares, no MIG, no teams, no
priorities. One queue admits everything, and pools have no limit; or it has the quota of the stack's nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from slipway.replay.jobs import Job
from slipway.replay.places import Fit, Place
from slipway.replay.plan import Plan, Planned, offerings
from spec.catalog.kubernetes import scheduler_configuration
from spec.pools import PoolSpec
from spec.pools.keys import GPU
from spec.pools.start import launch_seconds
from spec.quantities import CPU, MEMORY, quantity
from spec.settings import Platform

NAMESPACE: Final = "jobs"
QUEUE: Final = "default"
CONSOLIDATE_AFTER: Final = 60.0
"""Karpenter's default of `consolidateAfter` is 0s (kubernetes-sigs/karpenter v1.14.1, pkg/apis/v1/nodepool.go), but it
spares nodes that pods are nominated for; the engine's model would remove a node before its pods are placed."""
_API: Final = "kueue.x-k8s.io/v1beta2"
ENOUGH: Final = {CPU: "1000000000", MEMORY: "1Ei", GPU: "1000000000"}  # a quota that is never reached


def plain(plan: Plan, platform: Platform) -> Plan:
    """The jobs of a plan on a cluster with Karpenter; those that the stack can't run are left out there and here."""
    return _alone(plan, platform, {}, lambda _: ENOUGH, limited=False)


def fifo(plan: Plan, platform: Platform) -> Plan:
    """The same behind one queue with the quota of all nodes, and with the stack's patience for gangs."""
    return _alone(plan, platform, plan.document["kueue"]["configuration"], _quota, limited=True)


def _quota(place: Place) -> dict[str, str]:
    amounts = {CPU: place.cpu_millis, MEMORY: place.memory_mib}
    sizes = {name: quantity(name, place.nodes * amount) for name, amount in amounts.items()}
    return {**sizes, GPU: str(place.nodes * place.spec.gpu_count)}


def _alone(
    plan: Plan,
    platform: Platform,
    configuration: Mapping[str, Any],
    quota: Callable[[Place], Mapping[str, str]],
    *,
    limited: bool,
) -> Plan:
    places = tuple(_place(one) for one in plan.places)
    by_name = {one.name: one for one in places}
    jobs = {name: replace(one, fit=fit(one, by_name)) for name, one in plan.jobs.items()}
    shapes = {str(one["name"]): one for one in plan.document["pools"]}
    document = {
        **plan.document,
        "kueue": {
            "configuration": configuration,
            "objects": list(everything({one.name: (one.spec.node_selector, quota(one)) for one in places})),
        },
        "cluster": {"objects": [], "scheduler": scheduler_configuration({})},
        "pools": [_pool(shapes[one.name], one, platform, limited=limited) for one in places],
        "jobs": [_document(one, jobs[str(one["name"])]) for one in plan.document["jobs"]],
    }
    return replace(plan, document=document, jobs=jobs, places=places, pools={one.name: one.spec for one in places})


def whole(spec: PoolSpec) -> PoolSpec:
    """A pool without its fallbacks, its MIG instances and its shares."""
    resources = {GPU: spec.gpu_count} if spec.gpu else {}
    return replace(spec, fallbacks=(), mig=None, sharing=None, resources=resources)


def whole_gpus(job: Job) -> int:
    """GPUs of a pod where GPUs have no parts."""
    return -(-job.gpu_millis // 1000)


def fit(planned: Planned, places: Mapping[str, Place]) -> Fit | None:
    """What a pod requests: as on the stack, but whole GPUs."""
    if planned.fit is None:
        return None
    requests = {name: planned.fit.requests[name] for name in (CPU, MEMORY)}
    count = whole_gpus(planned.job)
    place = places[planned.fit.place.name]
    if count:
        requests[GPU] = str(count)
    return Fit(place=place, among=(place,), requests=requests, gpus=Fraction(count))


def _place(place: Place) -> Place:
    return replace(place, spec=whole(place.spec), parts=((GPU, Fraction(1)),) if place.parts else (), topology=False)


def _pool(pool: Mapping[str, Any], place: Place, platform: Platform, *, limited: bool) -> dict[str, Any]:
    own = {"launchSeconds": launch_seconds(place.spec), "offerings": list(offerings(place.spec, platform))}
    if pool["scaler"] == "static" and limited:  # paid for already
        return {**pool, **own}
    return {
        **pool,
        **own,
        "scaler": "karpenter",
        "min": 0,
        "max": place.nodes if limited else None,
        "limits": {},
        "consolidateAfterSeconds": CONSOLIDATE_AFTER,
        "consolidationPolicy": "WhenEmptyOrUnderutilized",
        "expireAfterSeconds": None,
        "warmNodes": 0,
    }


def everything(flavors: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]]) -> Iterator[dict[str, Any]]:
    """Kueue's objects of one queue over flavors, each with its labels of nodes and its quota."""

    def manifest(kind: str, name: str, spec: Mapping[str, Any], **meta: str) -> dict[str, Any]:
        return {"apiVersion": _API, "kind": kind, "metadata": {"name": name, **meta}, "spec": dict(spec)}

    among = []
    for name, (labels, quota) in flavors.items():
        yield manifest("ResourceFlavor", name, {"nodeLabels": dict(labels)})
        resources = [{"name": resource, "nominalQuota": quota[resource]} for resource in ENOUGH]
        among.append({"name": name, "resources": resources})
    groups = [{"coveredResources": list(ENOUGH), "flavors": among}]
    yield manifest("ClusterQueue", QUEUE, {"namespaceSelector": {}, "resourceGroups": groups})
    yield manifest("LocalQueue", QUEUE, {"clusterQueue": QUEUE}, namespace=NAMESPACE)


def _document(job: Mapping[str, Any], planned: Planned) -> dict[str, Any]:
    assert planned.fit is not None  # noqa: S101 - only those that can run are in a document
    (pods,) = job["podSets"]
    spec = planned.fit.place.spec
    tolerations = [
        *([{"key": GPU, "operator": "Exists"}] if spec.gpu else ()),
        *(one.manifest for one in spec.tolerations),
    ]
    return {
        **job,
        "namespace": NAMESPACE,
        "queue": QUEUE,
        "priorityClass": "",
        "podSets": [
            {
                **pods,
                "requests": dict(planned.fit.requests),
                "nodeSelector": dict(spec.node_selector),
                "affinity": None,
                "tolerations": tolerations,
                "topologyRequest": {"required": None, "preferred": None},
            }
        ],
    }

"""The spec of a Ray cluster: a head and groups of workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from components.workloads.metadata import kept, pod_metadata
from components.workloads.pods import Pod, container, pod_spec
from components.workloads.ray.args import RayClusterArgs
from spec.quantities import is_amount, parse
from spec.teams.labels import SERVING

HEAD: Final = "ray-head"
WORKER: Final = "ray-worker"
SERVE_PORT: Final = 8000
METRICS: Final = {"name": "metrics", "containerPort": 8080, "protocol": "TCP"}
_PORTS: Final = {"gcs-server": 6379, "dashboard": 8265, "client": 10001}
"""Names and ports of a head (kuberay v1.6.1, ray-operator/controllers/ray/utils/constant.go)."""
APPLICATION: Final = "app.kubernetes.io/name"
_STORE: Final = 3
"""Ray's object store has 30% of the memory, and /dev/shm must hold it, or Ray uses the disk (docs.ray.io, "Memory
Management", read 2026-11)."""
_MIB: Final = 2**20


def cluster_spec(name: str, args: RayClusterArgs, *, serves: bool = False) -> dict[str, Any]:
    """The spec of the cluster. Worker groups have a fixed size: Kueue counts `replicas`, and KubeRay starts a number
    between the other two."""
    return {
        "authOptions": {"mode": "token" if args.token else "disabled"},
        "headGroupSpec": {
            # Without CPUs Ray schedules no task there (docs.ray.io, "Best practices for large clusters").
            "rayStartParams": {"num-cpus": "0"},
            "template": head(name, args, serves=serves),
        },
        "rayVersion": args.ray_version,
        "workerGroupSpecs": [
            {
                "groupName": group,
                "replicas": each.replicas,
                "minReplicas": each.replicas,
                "maxReplicas": each.replicas,
                # KubeRay adds to this map, which must exist.
                "rayStartParams": {},
                "template": worker(name, args, each.pod, serves=serves),
            }
            for group, each in sorted(args.workers.items())
        ],
    }


def head(name: str, args: RayClusterArgs, *, serves: bool) -> dict[str, Any]:
    """Pod template of the head."""
    ports = [{"name": port, "containerPort": number, "protocol": "TCP"} for port, number in _PORTS.items()]
    return _template(name, args, HEAD, args.head, [*ports, METRICS], serves=serves, moved=False)


def worker(name: str, args: RayClusterArgs, pod: Pod, *, serves: bool) -> dict[str, Any]:
    """Pod template of a worker. One that serves may be moved to another node: requests go to the others."""
    return _template(name, args, WORKER, pod, [METRICS], serves=serves, moved=serves)


def with_store(pod: Pod) -> Pod:
    """The pod with shared memory for the object store."""
    memory = pod.resources.memory
    if pod.shared_memory is not None or not is_amount(memory):
        return pod
    return replace(pod, shared_memory=f"{int(parse(memory)) // _STORE // _MIB}Mi")


def _template(
    name: str,
    args: RayClusterArgs,
    role: str,
    pod: Pod,
    ports: list[Mapping[str, Any]],
    *,
    serves: bool,
    moved: bool,
) -> dict[str, Any]:
    ours = with_store(pod)
    serve = [{"name": "serve", "containerPort": SERVE_PORT, "protocol": "TCP"}] if serves else []
    ray = container(role, ours, args.target, ports=[*ports, *serve])
    # Load balancers reach the workers, which answer requests; the head has the dashboard.
    more = {SERVING: "true"} if serves and role == WORKER else {}
    meta = pod_metadata(name, ours, args.target, None if moved else kept(ours, args.target), more=more)
    # KubeRay sets this label, and the head's Service of a RayJob or RayService selects its value (v1.6.1,
    # HeadServiceLabels).
    del meta["labels"][APPLICATION]
    return {
        "metadata": meta,
        "spec": pod_spec(ours, args.target, [ray], priority=args.priority),
    }

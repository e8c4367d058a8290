"""Takes GPUs back from queued jobs that don't use them. A CronJob runs it; it imports the standard library and
`in_cluster` alone.

In the pod: `python -m components.composition.take_back PROMETHEUS AFTER WARNING NAMESPACE...`, with Prometheus' URL,
seconds without use until a job's team is warned, seconds from then until the job is stopped, and the namespaces of
teams.

Kueue stops a job whose Workload is not `active`, and lets the next one start; nothing is deleted. Its pods name their
Workload in an annotation (kueue v0.19.2, apis/kueue/v1beta2, `WorkloadAnnotation`). The team answers a warning by an
annotation of one of the job's pods, or of their template, with the time until which it keeps its GPUs.
"""

import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from components.composition.in_cluster import Api, ask, in_cluster, warn

WORKLOAD = "kueue.x-k8s.io/workload"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/{}/workloads"
WARNED = "platform.slipway/gpus-idle-since"
"""Annotation of a Workload: when its team was warned."""
KEEP = "platform.slipway/keep-gpus-until"
"""Annotation of a pod: until when its job keeps its GPUs, whatever they do (RFC 3339)."""
DEVICES = "nvidia.com/"
ACTIVE = "slipway:gpu:active"
USED = 0.05
"""Share of its time for which a GPU in use works at least; the alert GpuIdle has the same."""


@dataclass(frozen=True)
class Limits:
    """When a job is warned, and how long after that it is stopped."""

    after: timedelta
    warning: timedelta


def query(after: timedelta) -> str:
    """Pods whose GPUs were idle for all of this time. Those without series at its beginning are left out."""
    series, seconds = f'{ACTIVE}{{pod!=""}}', f"{after.total_seconds():.0f}s"
    return (
        f"max by (namespace, pod) (max_over_time({series}[{seconds}])) < {USED} "
        f"and max by (namespace, pod) ({series} offset {seconds}) >= 0"
    )


def take_back(api: Api, space: str, idle: Collection[str], limits: Limits, now: datetime) -> None:
    """Warn, stop or leave alone each job of a namespace, by those of its pods whose GPUs are idle."""
    pods: dict[str, list[Mapping[str, Any]]] = {}
    for pod in api("GET", f"/api/v1/namespaces/{space}/pods")["items"]:
        name = (pod["metadata"].get("annotations") or {}).get(WORKLOAD)
        if name and pod["status"].get("phase") == "Running" and _has_gpu(pod):
            pods.setdefault(name, []).append(pod)
    for workload in api("GET", WORKLOADS.format(space))["items"]:
        meta = workload["metadata"]
        if not workload["spec"].get("active", True):
            continue  # its pods may take long to end
        running = pods.get(meta["name"], [])
        warned = (meta.get("annotations") or {}).get(WARNED)
        path = f"{WORKLOADS.format(space)}/{meta['name']}"
        if not running or _kept(running, now) or not all(pod["metadata"]["name"] in idle for pod in running):
            if warned:
                api("PATCH", path, {"metadata": {"annotations": {WARNED: None}}})
        elif warned is None:
            text = (
                f"its GPUs have been idle for {limits.after}. It is stopped at {now + limits.warning:%H:%M} UTC, so "
                f"that others can use them. If it needs them: kubectl annotate pod -n {space} "
                f"{running[0]['metadata']['name']} {KEEP}={now + 2 * limits.warning:%Y-%m-%dT%H:%M:%SZ}"
            )
            # First: a job is never stopped after a warning that did not arrive.
            _tell(api, workload, "GpusIdle", text, now)
            api("PATCH", path, {"metadata": {"annotations": {WARNED: f"{now:%Y-%m-%dT%H:%M:%SZ}"}}})
        elif now >= datetime.fromisoformat(warned) + limits.warning:
            api("PATCH", path, {"spec": {"active": False}})
            text = f"its GPUs were idle since before {warned}, and nobody kept them: it is stopped. Create it again"
            _tell(api, workload, "GpusTakenBack", text, now)


def _has_gpu(pod: Mapping[str, Any]) -> bool:
    limits = ((one.get("resources") or {}).get("limits") or {} for one in pod["spec"]["containers"])
    return any(key.startswith(DEVICES) for each in limits for key in each)


def _kept(pods: Iterable[Mapping[str, Any]], now: datetime) -> bool:
    """Whether the annotation of a pod keeps its job's GPUs; one that is no time does not."""
    for pod in pods:
        try:
            until = datetime.fromisoformat(pod["metadata"]["annotations"].get(KEEP, ""))
        except ValueError:
            continue
        if until.replace(tzinfo=until.tzinfo or UTC) > now:
            return True
    return False


def _tell(api: Api, workload: Mapping[str, Any], reason: str, text: str, now: datetime) -> None:
    """An event of the job that the Workload is of: `kubectl describe` and `slipway why` show it."""
    (owner, *_) = workload["metadata"]["ownerReferences"]
    of = {**owner, "namespace": workload["metadata"]["namespace"]}
    warn(api, of, reason, text, now, by="slipway-idle-gpus")


def idle_pods(samples: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Namespace and name of each pod in Prometheus' answer to the query."""
    return {(one["metric"]["namespace"], one["metric"]["pod"]) for one in samples}


def main(prometheus: str, after: str, warning: str, *spaces: str, api: Api = in_cluster) -> None:
    """Look at all namespaces once. Raises OSError if Prometheus or the API server doesn't answer."""
    limits = Limits(timedelta(seconds=int(after)), timedelta(seconds=int(warning)))
    idle = idle_pods(ask(prometheus, query(limits.after)))
    now = datetime.now(UTC)  # noqa: TID251 - the pod's clock
    for space in spaces:
        take_back(api, space, {pod for where, pod in idle if where == space}, limits, now)


if __name__ == "__main__":
    main(*sys.argv[1:])

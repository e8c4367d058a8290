"""Valid objects of KubeRay, which tests change in one aspect."""

from typing import Any, Final

from tests.components.admission.samples import QUEUE, Object, container, spec

BOUNDS: Final = {"activeDeadlineSeconds": 3600, "backoffLimit": 3, "shutdownAfterJobFinishes": True}
GROUP: Final = ("minReplicas", "maxReplicas", "numOfHosts")


def cluster(head: Object | None = None, *, queued: bool = True, suspend: bool | None = None, **more: Any) -> Object:
    body = _cluster(head, **more)
    return _object("RayCluster", body if suspend is None else {**body, "suspend": suspend}, queued=queued)


def job(head: Object | None = None, *, queued: bool = True, **more: Any) -> Object:
    """A RayJob; `more` are its bounds, and what `_cluster` takes."""
    bounds = {**BOUNDS, **{name: more.pop(name) for name in list(more) if name in (*BOUNDS, *_OF_JOB)}}
    kept = {name: value for name, value in bounds.items() if value is not None}
    return _object("RayJob", {"entrypoint": "python run.py", **kept, "rayClusterSpec": _cluster(head, **more)}, queued)


_OF_JOB: Final = ("ttlSecondsAfterFinished", "suspend")


def selecting(submitter: Object | None = None) -> Object:
    """A RayJob on a cluster that exists."""
    body = {
        "entrypoint": "python run.py",
        "activeDeadlineSeconds": 3600,
        "clusterSelector": {"ray.io/cluster": "it"},
        "submitterPodTemplate": {"spec": submitter or spec()},
    }
    return _object("RayJob", body, queued=True)


def service(
    head: Object | None = None,
    *,
    queued: bool = True,
    strategy: str | None = "None",
    suspend: bool | None = None,
    **more: Any,
) -> Object:
    body = _cluster(head, **more)
    held = body if suspend is None else {**body, "suspend": suspend}
    upgrades = {} if strategy is None else {"upgradeStrategy": {"type": strategy}}
    return _object("RayService", {"rayClusterConfig": held, **upgrades}, queued=queued)


def _cluster(
    head: Object | None = None,
    *,
    worker: Object | None = None,
    replicas: int = 2,
    autoscaled: bool = False,
    enableIngress: bool | None = None,  # noqa: N803 - upstream's name
    head_annotations: Object | None = None,
    worker_annotations: Object | None = None,
    **group: Any,
) -> Object:
    assert set(group) <= set(GROUP), group
    workers = {
        "groupName": "workers",
        "replicas": replicas,
        **group,
        "template": _template(worker or spec(), worker_annotations),
    }
    first: Object = {"template": _template(head or spec(container(name="ray-head")), head_annotations)}
    if enableIngress is not None:
        first["enableIngress"] = enableIngress
    scaling = {"enableInTreeAutoscaling": True} if autoscaled else {}
    kept = {name: value for name, value in workers.items() if value is not None}
    return {"headGroupSpec": first, "workerGroupSpecs": [kept], **scaling}


def _template(body: Object, annotations: Object | None) -> Object:
    return {"spec": body, **({"metadata": {"annotations": annotations}} if annotations else {})}


def _object(kind: str, body: Object, queued: bool = True) -> Object:
    labels = {QUEUE: "default"} if queued else {}
    return {"apiVersion": "ray.io/v1", "kind": kind, "metadata": {"name": "it", "labels": labels}, "spec": body}

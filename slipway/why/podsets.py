"""The pods that a manifest makes: their specs, labels and numbers, by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.admission import kinds

Object = Mapping[str, Any]


@dataclass(frozen=True)
class PodSet:
    """Pods of one template.

    Attributes:
        name: Name of the template in its manifest.
        spec: Spec of each pod.
        metadata: Metadata of the template.
        count: Number of pods that run at the same time.
    """

    name: str
    spec: Object
    metadata: Object
    count: int


def podsets(manifest: Object) -> list[PodSet]:
    """The templates of a manifest; none for a kind without a template, and for one without a pod spec."""
    reader = _READERS.get(str(manifest.get("kind")))
    found = list(reader(manifest.get("spec") or {})) if reader else []
    if manifest.get("kind") == "Pod":
        found = [PodSet("pod", manifest.get("spec") or {}, manifest.get("metadata") or {}, 1)]
    return [one for one in found if one.spec.get("containers")]


def _of(name: str, template: Object | None, count: int) -> PodSet:
    body = template or {}
    return PodSet(name, body.get("spec") or {}, body.get("metadata") or {}, count)


def _job(spec: Object, name: str = "pod", times: int = 1) -> Iterator[PodSet]:
    parallel = int(spec.get("parallelism", 1))
    if spec.get("completions") is not None:
        parallel = min(parallel, int(spec["completions"]))
    yield _of(name, spec.get("template"), parallel * times)


def _cron_job(spec: Object) -> Iterator[PodSet]:
    yield from _job((spec.get("jobTemplate") or {}).get("spec") or {})


def _scaled_job(spec: Object) -> Iterator[PodSet]:
    yield from _job(spec.get("jobTargetRef") or {})


def _job_set(spec: Object) -> Iterator[PodSet]:
    for one in spec.get("replicatedJobs") or ():
        yield from _job(
            (one.get("template") or {}).get("spec") or {}, str(one.get("name")), int(one.get("replicas", 1))
        )


def _replicas(spec: Object) -> Iterator[PodSet]:
    yield _of("pod", spec.get("template"), int(spec.get("replicas", 1)))


def _leader_worker_set(spec: Object) -> Iterator[PodSet]:
    inner, replicas = spec.get("leaderWorkerTemplate") or {}, int(spec.get("replicas", 1))
    size, leader = int(inner.get("size", 1)), inner.get("leaderTemplate")
    if leader:
        yield _of("leader", leader, replicas)
    yield _of("worker", inner.get("workerTemplate"), replicas * (size - 1 if leader else size))


def _operated(field: str, spec: Object) -> Iterator[PodSet]:
    for name, group in (spec.get(field) or {}).items():
        yield _of(str(name), group.get("template"), int(group.get("replicas", 1)))


def _ray(spec: Object) -> Iterator[PodSet]:
    yield _of("head", (spec.get("headGroupSpec") or {}).get("template"), 1)
    for group in spec.get("workerGroupSpecs") or ():
        # At least `minReplicas`, whatever `replicas` says (kuberay v1.6.1, GetWorkerGroupDesiredReplicas).
        count = max(int(group.get("replicas") or 0), int(group.get("minReplicas") or 0))
        yield _of(str(group.get("groupName")), group.get("template"), count * int(group.get("numOfHosts") or 1))


def _group_reader(field: str) -> Callable[[Object], Iterator[PodSet]]:
    return lambda spec: _operated(field, spec)


def _of_jobs(spec: Object) -> Iterator[PodSet]:
    return _job(spec)


def _ray_job(spec: Object) -> Iterator[PodSet]:
    yield from _ray(spec.get("rayClusterSpec") or {})
    yield _of("submitter", spec.get("submitterPodTemplate"), 1)


def _ray_service(spec: Object) -> Iterator[PodSet]:
    return _ray(spec.get("rayClusterConfig") or {})


_READERS: Final[Mapping[str, Callable[[Object], Iterator[PodSet]]]] = {
    "Job": _of_jobs,
    "CronJob": _cron_job,
    "ScaledJob": _scaled_job,
    "JobSet": _job_set,
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet"), _replicas),
    "LeaderWorkerSet": _leader_worker_set,
    **{kind: _group_reader(field) for kind, field in kinds.REPLICATED.items()},
    "RayCluster": _ray,
    "RayJob": _ray_job,
    "RayService": _ray_service,
}

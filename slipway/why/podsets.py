"""The pods that a manifest makes, and Jobs of several groups of pods: which lacks pods while others run."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from components.admission import kinds
from components.admission.isolation import EXCLUSIVE, NODE
from slipway.why.answer import Evidence, Part
from slipway.why.bundle import Bundle, Object, name_of
from slipway.why.table import part_of

# The pods that a manifest makes: their specs, labels and numbers, by kind.


@dataclass(frozen=True)
class PodSet:
    """Pods of one template."""

    name: str  # name of the template in its manifest
    spec: Object  # spec of each pod
    metadata: Object  # metadata of the template
    count: int  # number of pods that run at the same time
    alone: int = 0  # number of them in each Job that has a node to itself; 0 if they share nodes


Reader = Callable[[Object], Iterable[PodSet]]


def podsets(manifest: Object) -> list[PodSet]:
    """The templates of a manifest; none for a kind without a template, and for one without a pod spec."""
    reader = _READERS.get(str(manifest.get("kind")))
    found = list(reader(manifest.get("spec") or {})) if reader else []
    if manifest.get("kind") == "Pod":
        found = [PodSet("pod", manifest.get("spec") or {}, manifest.get("metadata") or {}, 1)]
    if manifest.get("kind") == "JobSet":
        found = list(job_set(manifest.get("spec") or {}, whole=_has_node(manifest)))
    return [one for one in found if one.spec.get("containers")]


def _of(name: str, template: Object | None, count: int) -> PodSet:
    body = template or {}
    return PodSet(name, body.get("spec") or {}, body.get("metadata") or {}, count)


def _job(spec: Object, name: str = "pod") -> Iterator[PodSet]:
    parallel = int(spec.get("parallelism", 1))
    if spec.get("completions") is not None:
        parallel = min(parallel, int(spec["completions"]))
    yield _of(name, spec.get("template"), parallel)


def job_set(spec: Object, *, whole: bool = False) -> Iterator[PodSet]:
    """The pods of the spec of a JobSet; `whole`: each of its Jobs has a node to itself."""
    for one in spec.get("replicatedJobs") or ():
        job, times = one.get("template") or {}, int(one.get("replicas", 1))
        for each in _job(job.get("spec") or {}, str(one.get("name"))):
            alone = each.count if whole or _has_node(job) else 0
            yield replace(each, count=each.count * times, alone=alone)


def _has_node(holder: Object) -> bool:
    """Whether a Job has a node to itself (jobset.sigs.k8s.io, "Exclusive Job to Topology Placement")."""
    return ((holder.get("metadata") or {}).get("annotations") or {}).get(EXCLUSIVE) == NODE


def _leader_worker_set(spec: Object) -> Iterator[PodSet]:
    inner, replicas = spec.get("leaderWorkerTemplate") or {}, int(spec.get("replicas", 1))
    size, leader = int(inner.get("size", 1)), inner.get("leaderTemplate")
    if leader:
        yield _of("leader", leader, replicas)
    yield _of("worker", inner.get("workerTemplate"), replicas * (size - 1 if leader else size))


def _groups_of(field: str) -> Reader:
    """Reads the groups of a training operator, which are below a field."""

    def read(spec: Object) -> Iterator[PodSet]:
        for name, group in (spec.get(field) or {}).items():
            yield _of(str(name), group.get("template"), int(group.get("replicas", 1)))

    return read


def _ray(spec: Object) -> Iterator[PodSet]:
    yield _of("head", (spec.get("headGroupSpec") or {}).get("template"), 1)
    for group in spec.get("workerGroupSpecs") or ():
        # At least `minReplicas`, whatever `replicas` says (kuberay v1.6.1, GetWorkerGroupDesiredReplicas).
        count = max(int(group.get("replicas") or 0), int(group.get("minReplicas") or 0))
        yield _of(str(group.get("groupName")), group.get("template"), count * int(group.get("numOfHosts") or 1))


def _ray_job(spec: Object) -> Iterator[PodSet]:
    yield from _ray(spec.get("rayClusterSpec") or {})
    yield _of("submitter", spec.get("submitterPodTemplate"), 1)


_READERS: Final[Mapping[str, Reader]] = {
    "Job": _job,
    "CronJob": lambda spec: _job((spec.get("jobTemplate") or {}).get("spec") or {}),
    "ScaledJob": lambda spec: _job(spec.get("jobTargetRef") or {}),
    "JobSet": job_set,
    **dict.fromkeys(
        ("Deployment", "ReplicaSet", "StatefulSet"),
        lambda spec: [_of("pod", spec.get("template"), int(spec.get("replicas", 1)))],
    ),
    "LeaderWorkerSet": _leader_worker_set,
    **{kind: _groups_of(field) for kind, field in kinds.REPLICATED.items()},
    "RayCluster": _ray,
    "RayJob": _ray_job,
    "RayService": lambda spec: _ray(spec.get("rayClusterConfig") or {}),
}


_OF_WORKFLOW: Final = ("activeDeadlineSeconds", "nodeSelector", "tolerations", "affinity", "initContainers")


def steps(manifest: Object) -> Iterator[tuple[str, Object]]:
    """The pod of each template of a workflow that runs containers: what a template does not say of its place, the
    workflow does, and its deadline bounds all (argo-workflows v4.0.6, CRD, `templates`)."""
    spec = manifest.get("spec") or {}
    spec = spec.get("workflowSpec") or spec
    templates = (
        list(spec.get("templates") or ()) if manifest.get("kind") in {one.kind for one in kinds.WORKFLOWS} else []
    )
    for one in templates:
        tasks = chain((one.get("dag") or {}).get("tasks") or (), *(one.get("steps") or ()))
        templates += [{**task["inline"], "name": task.get("name")} for task in tasks if task.get("inline")]
        several = (one.get("containerSet") or {}).get("containers") or ()
        run = [*filter(None, (one.get("container"), one.get("script"))), *several, *(one.get("sidecars") or ())]
        given = {**spec, **one, **{key: spec[key] for key in _OF_WORKFLOW[:1] if key in spec}}
        labels = {
            **((spec.get("podMetadata") or {}).get("labels") or {}),
            **((one.get("metadata") or {}).get("labels") or {}),
        }
        pod = {"containers": run, **{key: given[key] for key in _OF_WORKFLOW if given.get(key)}}
        if run:
            yield str(one["name"]), {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": labels}, "spec": pod}


# Jobs of several groups of pods, such as a launcher and its workers: which group lacks pods while the others run.


_LABELS: Final[Mapping[str, str]] = {
    # mpi-operator v0.8.0, pkg/controller/mpi_job_controller.go, defaultLabels; training-operator v1.9.4,
    # pkg/apis/kubeflow.org/v1/common_types.go, ReplicaTypeLabel; kuberay v1.6.1, utils/constant.go,
    # RayNodeGroupLabelKey.
    kinds.MPI_JOB.kind: "training.kubeflow.org/job-role",
    **{each.kind: "training.kubeflow.org/replica-type" for each in kinds.TRAINING},
    kinds.RAY_CLUSTER.kind: "ray.io/group",
}
"""Label of a pod that names its group, by kind of the job."""
_HEAD: Final = "headgroup"
"""Value of the label on the head of a Ray cluster (kuberay v1.6.1, utils/constant.go, RayNodeHeadGroupLabelValue)."""


def lacking(bundle: Bundle) -> Part | None:
    """The first group with fewer pods than its job wants, although nothing refuses them and all others run."""
    above = bundle.owners(bundle.subject) if bundle.subject["kind"] == "Workload" else ()
    for job in (*above, *bundle.family):
        if job["kind"] in _LABELS and (part := _lacking(job, bundle)) is not None:
            return part
    return None


def _lacking(job: Object, bundle: Bundle) -> Part | None:
    pods = [pod for pod in bundle.pods if any(each is job for each in bundle.owners(pod))]
    groups = list(_groups(job, pods))
    for name, wanted, there in groups:
        if there >= wanted:
            continue
        # A launcher has a Job between its group and its pods.
        launching = bundle.named("Job", f"{job['metadata']['name']}-{name}")
        has = f"{there} of {wanted} pods" if there else "no pod"
        missing = sum(max(0, wanted - there) for _, wanted, there in groups)
        held = f", because {name_of(launching)} is suspended" if launching and launching["spec"].get("suspend") else ""
        fields = {"job": name_of(job), "has": f"{has}{held}", "run": len(pods), "all": len(pods) + missing}
        fields |= {"see": name_of(launching or job), "kind": job["kind"]}
        part = part_of("a group lacks pods", {"group": name, "wanted": str(wanted), "pods": str(there)}, **fields)
        return part.seen(Evidence(f"spec of {name_of(job)}", f"{name}: {wanted}"))
    return None


def _groups(job: Object, pods: Sequence[Object]) -> Iterator[tuple[str, int, int]]:
    """Name, wanted pods, and those that exist or have succeeded, of each group."""
    label = _LABELS[str(job["kind"])]
    counted = (job.get("status") or {}).get("replicaStatuses") or {}
    for one in podsets(job):
        value = _HEAD if job["kind"] == kinds.RAY_CLUSTER.kind and one.name == "head" else one.name
        labels = ((pod, pod["metadata"].get("labels") or {}) for pod in pods)
        own = [pod for pod, has in labels if str(has.get(label) or "").lower() == value.lower()]
        # The pod of a group that has succeeded may be deleted with its node.
        succeeded = sum((pod.get("status") or {}).get("phase") == "Succeeded" for pod in own)
        recorded = int((counted.get(one.name) or {}).get("succeeded") or 0)
        yield one.name.lower(), one.count, len(own) - succeeded + max(succeeded, recorded)

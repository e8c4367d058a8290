"""Jobs of several groups of pods, such as a launcher and its workers: which group lacks pods while the others run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from components.admission import kinds
from slipway.why.answer import Evidence, Layer, Part
from slipway.why.bundle import Bundle, Object, name_of
from slipway.why.podsets import podsets

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
        launching = _job_of(job, name, bundle)
        has = f"{there} of {wanted} pods" if there else "no pod"
        missing = sum(max(0, wanted - there) for _, wanted, there in groups)
        held = f", because {name_of(launching)} is suspended" if launching and launching["spec"].get("suspend") else ""
        return Part(
            layer=Layer.CONTROLLER,
            cause=f"group {name} of {name_of(job)} has {has}{held}; the other {len(pods)} of {len(pods) + missing} run",
            fix=f"wait a moment; if it stays, read `kubectl describe {name_of(launching or job)}`, and the log of the "
            f"controller of {job['kind']}",
            numbers={"group": name, "wanted": str(wanted), "pods": str(there)},
            evidence=[Evidence(f"spec of {name_of(job)}", f"{name}: {wanted}")],
        )
    return None


def _groups(job: Object, pods: Sequence[Object]) -> Iterator[tuple[str, int, int]]:
    """Name, wanted pods, and those that exist or have succeeded, of each group."""
    label = _LABELS[str(job["kind"])]
    counted = (job.get("status") or {}).get("replicaStatuses") or {}
    for one in podsets(job):
        value = _HEAD if job["kind"] == kinds.RAY_CLUSTER.kind and one.name == "head" else one.name
        own = [pod for pod in pods if _label(pod, label).lower() == value.lower()]
        # The pod of a group that has succeeded may be deleted with its node.
        succeeded = sum((pod.get("status") or {}).get("phase") == "Succeeded" for pod in own)
        recorded = int((counted.get(one.name) or {}).get("succeeded") or 0)
        yield one.name.lower(), one.count, len(own) - succeeded + max(succeeded, recorded)


def _label(pod: Object, key: str) -> str:
    return str((pod["metadata"].get("labels") or {}).get(key) or "")


def _job_of(job: Object, group: str, bundle: Bundle) -> Object | None:
    """The Job between a group and its pods: a launcher has one."""
    return bundle.named("Job", f"{job['metadata']['name']}-{group}")

"""Acts about labels and annotations of Kueue: a user's, a controller's, and those that its webhooks add."""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from tests.components.admission import ray_samples as ray
from tests.components.admission import samples as make
from tests.components.admission.actors import EDIT, Act
from tests.components.admission.samples import Object, container, gpus, on, spec

FILE: Final = Path(__file__).with_name("kueue_metadata.yaml")
KEYS: Final[Mapping[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
KUEUE: Final = "kueue.x-k8s.io"
RULE: Final = "queue-metadata"
HASH: Final = {f"{KUEUE}/role-hash": "deadbeef"}
GROUP: Final = {f"{KUEUE}/pod-group-name": "all"}
TOTAL: Final = {f"{KUEUE}/pod-group-total-count": "2"}
MANAGED: Final = {f"{KUEUE}/managed": "true"}


def noted(manifest: Object, *path: str | int, **fields: Mapping[str, str | None]) -> Object:
    """A copy with labels or annotations in the metadata at a path."""
    ours = copy.deepcopy(manifest)
    at: Any = ours
    for step in path:
        at = at[step]
    meta = at.setdefault("metadata", {})
    for field, more in fields.items():
        meta[field] = {**meta.get(field, {}), **more}
    return ours


def held(**fields: Mapping[str, str]) -> Object:
    """A pod as Kueue's webhook leaves it."""
    pod = noted(make.gated(make.pod()), labels={make.QUEUE: "default", **MANAGED}, annotations=HASH)
    pod["metadata"]["finalizers"] = list(MANAGED)
    return noted(pod, **fields)


RUNTIME: Final[Object] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainingRuntime",
    "metadata": {"name": "it"},
    "spec": {"template": make.job_set()},
}
PATCHED: Final = make.train_job()
PATCHED["spec"]["runtimePatches"] = [{"manager": "mine", "trainingRuntimeSpec": {"template": make.job_set()}}]
IN_JOB: Final = ("spec", "template")
IN_SET: Final = ("spec", "replicatedJobs", 0, "template")
PATCH: Final = ("spec", "runtimePatches", 0, "trainingRuntimeSpec", "template")
LEADER: Final = ("spec", "leaderWorkerTemplate", "workerTemplate")
WORKER: Final = ("spec", "mpiReplicaSpecs", "Worker", "template")
CRON: Final = ("spec", "jobTemplate")
PLACES: Final[Mapping[str, tuple[Object, tuple[str | int, ...]]]] = {
    "a Job": (make.job(), ()),
    "pods of a Job": (make.job(), IN_JOB),
    "Jobs of a CronJob": (make.cron_job(), CRON),
    "pods of a CronJob": (make.cron_job(), (*CRON, *IN_JOB)),
    "pods of a Deployment": (make.deployment(), IN_JOB),
    "pods of a StatefulSet": (make.stateful_set(), IN_JOB),
    "pods of a ReplicaSet": (make.replica_set(), IN_JOB),
    "Jobs of a JobSet": (make.job_set(), IN_SET),
    "pods of a JobSet": (make.job_set(), (*IN_SET, *IN_JOB)),
    "pods of a LeaderWorkerSet": (make.leader_worker_set(), LEADER),
    "workers of an MPIJob": (make.mpi_job(), WORKER),
    "pods of a ScaledJob": (make.scaled_job(), ("spec", "jobTargetRef", "template")),
    "a RayJob": (ray.job(), ()),
    "the head of a RayCluster": (ray.cluster(), ("spec", "headGroupSpec", "template")),
    "workers of a RayCluster": (ray.cluster(), ("spec", "workerGroupSpecs", 0, "template")),
    "a TrainJob": (make.train_job(), ()),
    "a JobSet that a TrainJob changes": (PATCHED, PATCH),
    "Jobs that a TrainJob changes": (PATCHED, (*PATCH, *IN_SET)),
    "pods that a TrainJob changes": (PATCHED, (*PATCH, *IN_SET, *IN_JOB)),
    "pods of a runtime": (RUNTIME, (*IN_JOB, *IN_SET, *IN_JOB)),
    "a model": (make.inference_service(maxReplicas=2), ()),
}
PREDICTOR: Final = make.inference_service(maxReplicas=2, annotations={**GROUP, **TOTAL})


def later(what: str, manifest: Object, before: Object, rule: str = RULE, actor: str = EDIT) -> Act:
    return Act(what, actor, manifest, rule, before=before, method="PATCH")


def only(before: Object, *path: str | int, **fields: Mapping[str, str | None]) -> Object:
    """What a PATCH changes: the metadata alone."""
    bare: Object = {key: before[key] for key in ("apiVersion", "kind")} | {"metadata": {"name": "it"}}
    return noted(bare, *path, **fields)


def webhooks(change: Callable[[Mapping[str, str]], Mapping[str, str]]) -> dict[str, Object]:
    """What Kueue's webhooks make of workloads of a user, with a change to the annotations."""
    parent = f"{KUEUE}/pod-suspending-parent"
    return {
        "Deployment": noted(
            make.labelled(make.deployment(on("h100"))),
            *IN_JOB,
            labels={**MANAGED, make.QUEUE: "default"},
            annotations=change({parent: "deployment"}),
        ),
        "StatefulSet": noted(
            make.labelled(make.stateful_set(on("h100"))), *IN_JOB, annotations=change({parent: "statefulset"})
        ),
        "LeaderWorkerSet": noted(
            make.leader_worker_set(on("h100")),
            *LEADER,
            labels={make.QUEUE: "default"},
            annotations=change(
                {
                    parent: "leaderworkerset.x-k8s.io/leaderworkerset",
                    f"{KUEUE}/pod-group-serving": "true",
                    f"{KUEUE}/pod-index-offset": "1",
                }
            ),
        ),
        "MPIJob": noted(make.mpi_job(), *WORKER, annotations=change({f"{KUEUE}/pod-index-offset": "1"})),
    }


FORGED: Final = {f"{KUEUE}/pod-suspending-parent": "leaderworkerset.x-k8s.io/leaderworkerset"}
RUNNING: Final = noted(make.job(suspend=True), *IN_JOB, labels={f"{KUEUE}/podset": "main"})

CHANGES: Final[Mapping[str, Mapping[str, Mapping[str, str | None]]]] = {
    "another hash": {"annotations": {f"{KUEUE}/role-hash": "00000000"}},
    "a group": {"labels": GROUP},
    "another class": {"labels": {f"{KUEUE}/priority-class": "experiment"}},
    "another queue": {"labels": {make.QUEUE: "other"}},
    "no hash": {"annotations": {f"{KUEUE}/role-hash": None}},
    "no mark of Kueue": {"labels": {f"{KUEUE}/managed": None}},
}
"""Changes of the metadata of a pod."""

KEYED: Final = (
    *(
        Act(f"a Job with the {field[:-1]} {key}", EDIT, noted(make.job(), **{field: {key: "1"}}), RULE)
        for key in KEYS["controller"] for field in ("labels", "annotations")
    ),
    *(
        Act(f"a Job with the user's {key}", EDIT,
            noted(make.job(), **{"annotations" if "podset" in key or "/" in text else "labels": {key: text}}))
        for key, text in KEYS["user"].items()
    ),
    *(
        Act(f"{place} with {name}", EDIT, noted(manifest, *path, **fields), RULE)
        for place, (manifest, path) in PLACES.items()
        for name, fields in (("a hash", {"annotations": HASH}), ("a group", {"labels": GROUP, "annotations": TOTAL}))
    ),
    Act("the predictor of a model with a group", EDIT, PREDICTOR, RULE),
    Act("the Deployment of a model with a group", "KServe",
        noted(make.deployment(), *IN_JOB, annotations={**GROUP, **TOTAL}), RULE),
    Act("a pod that Kueue holds", EDIT, held()),
    Act("a hash without Kueue", EDIT, noted(make.pod(), annotations=HASH), RULE),
    Act("a pod of a group with a hash", EDIT, held(labels=GROUP, annotations=TOTAL), RULE),
    Act("a pod of a group admitted fast", EDIT,
        held(labels=GROUP, annotations={**TOTAL, f"{KUEUE}/pod-group-fast-admission": "true"}), RULE),
    Act("a step of a workflow in a group", "Argo", held(labels=GROUP, annotations=TOTAL), RULE),
    Act("a step of a workflow that Kueue holds", "Argo", held()),
    Act("a pod that passes for one of a LeaderWorkerSet", EDIT, noted(make.gated(make.pod(spec(gpus()))),
            annotations=FORGED,
            labels={"leaderworkerset.sigs.k8s.io/name": "small", "leaderworkerset.sigs.k8s.io/group-index": "0"}),
        RULE),
    Act("a StatefulSet whose pods pass for those of a LeaderWorkerSet", EDIT,
        noted(make.stateful_set(), *IN_JOB, labels={"leaderworkerset.sigs.k8s.io/name": "small"}), RULE),
    Act("a pod of a LeaderWorkerSet", "stateful set controller", noted(make.owned(make.pod()),
            annotations={**FORGED, f"{KUEUE}/pod-group-serving": "true", **HASH},
            labels={"leaderworkerset.sigs.k8s.io/name": "small"})),
    *(Act(f"a {kind} as Kueue's webhook leaves it", EDIT, manifest) for kind, manifest in webhooks(dict).items()),
    *(
        Act(f"a {kind} with another annotation than Kueue's webhook adds", EDIT, manifest, RULE)
        for kind, manifest in webhooks(lambda notes: dict.fromkeys(notes, "other")).items()
    ),
    *(later(f"a pod that gets {name} later", only(make.pod(), **fields), held()) for name, fields in CHANGES.items()),
    later("a pod that gets a label of its own later", only(make.pod(), labels={"mine": "1"}), held(), rule=""),
    later("Kueue puts a pod into a group", only(make.pod(), labels=GROUP, annotations={**HASH, **TOTAL}), held(),
          rule="", actor="Kueue"),
    later("a namespace whose name begins like Kueue's does so",
          only(make.pod(), labels=GROUP, annotations={**HASH, **TOTAL}), held(), actor="a namespace named alike"),
    later("a Job that gets a label of Kueue later", only(make.job(), labels={f"{KUEUE}/prebuilt-workload-name": "a"}),
          make.job(suspend=True)),
    later("a Job that gets a class that is none", only(make.job(), labels={f"{KUEUE}/priority-class": "highest"}),
          make.job(suspend=True), rule="priority-class"),
    later("a Job that Kueue started gets a label", only(RUNNING, labels={"mine": "1"}), RUNNING, rule=""),
    later("a Job that Kueue started gets another deadline", only(RUNNING) | {"spec": {"activeDeadlineSeconds": 60}},
          RUNNING, rule=""),
    later("Kueue labels the pods of a Job", noted(only(RUNNING, labels={}) | {"spec": {"template": {}}}, *IN_JOB,
          labels={f"{KUEUE}/podset": "main"}, annotations={f"{KUEUE}/workload": "job-it"}), make.job(suspend=True),
          rule="", actor="Kueue"),
    *(
        Act(f"{place} queued with a class that is none", EDIT,
            noted(manifest, *path, labels={f"{KUEUE}/priority-class": "highest"}), "priority-class")
        for place, (manifest, path) in PLACES.items()
    ),
    Act("a Job that MultiKueue copies", "Kueue", noted(make.job(spec(container())),
            labels={f"{KUEUE}/prebuilt-workload-name": "a", f"{KUEUE}/multikueue-origin": "b"})),
)  # fmt: skip

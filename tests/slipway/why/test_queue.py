"""What Kueue says about a workload, in its own words (kueue v0.19.2)."""

from dataclasses import replace
from typing import Any, Final

import pytest

from components.admission import kinds
from slipway.why.answer import Answer, Layer, Part
from slipway.why.collect import NAMESPACED
from slipway.why.explain import explain
from slipway.why.manifests import answer
from slipway.why.podsets import podsets
from slipway.why.queue import held
from spec.settings.addons.batch import Kuberay
from spec.settings.admission import Admission
from tests.components.admission import ray_samples as ray
from tests.components.admission.samples import spec
from tests.slipway.why.objects import (
    CASES,
    DEV,
    POOL,
    Object,
    bundle,
    cases,
    condition,
    event,
    obj,
    pod,
    unscheduled,
    workload,
)

MESSAGES: Final = {
    row["what"]: row.get("text") or f"couldn't assign flavors to pod set main: {row['flavors']}"
    for row in CASES["kueue"]
}


@cases("kueue")
def test_a_message_of_kueue_names_layer_and_number(row: dict[str, Any]) -> None:
    message = MESSAGES[row["what"]]
    part = held_by(workload(message))
    assert (part.layer, row["says"] in part.cause) == (row["layer"], True), part
    assert row.get("numbers", {}).items() <= dict(part.numbers).items()
    assert part.fix
    assert message in part.evidence[0].text


def held_by(one: Object, *others: Object, events: tuple[Object, ...] = ()) -> Part:
    """What holds a workload, which something does."""
    part = held(one, bundle(one, *others, events=events))
    assert part is not None
    return part


def test_a_wrong_queue_names_those_that_exist() -> None:
    one = workload("LocalQueue defualt doesn't exist", queueName="defualt")
    part = held_by(one, obj("LocalQueue", "default"))
    assert part.fix.endswith("a queue of the namespace: default")


def test_a_queue_shows_how_many_wait_in_it() -> None:
    queue = obj("LocalQueue", "default", status={"pendingWorkloads": 3, "admittedWorkloads": 1})
    one = workload(MESSAGES["its turn"])
    part = held_by(one, queue)
    assert [each.text for each in part.evidence if each.source == "localqueue/default"] == ["3 pending, 1 admitted"]


@cases("workloads")
def test_states_without_a_message_of_the_scheduler(row: dict[str, Any]) -> None:
    status = dict(row.get("status", {}))
    status["conditions"] = [condition(*one) for one in status.get("conditions", ())]
    part = held_by(workload(status=status, **row.get("spec", {})))
    assert part.layer is Layer.QUEUE
    assert row["says"] in part.cause


@pytest.mark.parametrize("kind", ["Admitted", "Finished"])
def test_an_admitted_or_finished_workload_is_not_held(kind: str) -> None:
    one = workload(status={"conditions": [condition(kind, "True")]})
    assert held(one, bundle(one)) is None


def test_an_evicted_workload_shows_what_kept_its_pods() -> None:
    job = obj("Job", "train")
    gone = pod("train-x7b2f")
    status = {
        "conditions": [
            condition("Evicted", "True", "PodsReadyTimeout", "Exceeded the PodsReady timeout vision/a"),
            condition("Requeued", "False", "PodsReadyTimeout", ""),
        ],
        "requeueState": {"count": 1, "requeueAt": "2026-11-22T13:34:07Z"},
    }
    one = workload(owner=job, status=status)
    message = '0/3 nodes are available: persistentvolumeclaim "checkpionts" not found. not found'
    part = held(one, bundle(job, one, events=(event(gone, "FailedScheduling", message),)))
    assert part is not None
    assert part.cause.endswith(f"the last warning about its pods: {message}")
    assert part.fix == "fix what kept its pods from being ready in time"


def test_an_equal_workload_answers_for_one_that_kueue_writes_nothing_about() -> None:
    """Two equal Jobs of 30 MIG instances: only one had a condition (kueue 0.19.2, 2026-11-22)."""
    sets = [{"name": "main", "count": 30, "template": {"spec": {"containers": [{"name": "a", "resources": {}}]}}}]
    first = workload(MESSAGES["larger than the quota"], podSets=sets)
    second = workload(podSets=sets) | {"metadata": {"name": "job-busy", "uid": "second"}}
    part = held_by(second, first)
    assert part.layer is Layer.QUOTA
    other = workload(podSets=[{**sets[0], "count": 1}]) | {"metadata": {"name": "job-small", "uid": "third"}}
    part = held_by(other, first)
    assert "Kueue has not looked at it yet" in part.cause


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("Preempted to accommodate a workload (UID: 1, JobUID: 2) due to reclamation within the cohort", ""),
        (MESSAGES["its turn"], "; 8 more nvidia.com/gpu must become unused on pool h100"),
    ],
)
def test_a_preempted_workload_says_by_whom_and_that_it_starts_again(message: str, cause: str) -> None:
    one = workload(message)
    one["status"]["conditions"].append(condition("Preempted", "True", "InCohortReclamation", "Preempted to"))
    part = held_by(one)
    assert part.cause == f"it was preempted by the owner of the quota that it had borrowed{cause}"
    assert "starts again by itself" in part.fix
    assert "condition Preempted of workload/job-train-1a2b3" in [each.source for each in part.evidence]


# Jobs of several groups of pods, pods of one, and clusters of Ray.


# Jobs of several groups of pods: the one that lacks pods is named, although all others run.


TEMPLATE: Final = {"spec": {"containers": [{"name": "main"}]}}
MPI: Final = {"Launcher": {"replicas": 1, "template": TEMPLATE}, "Worker": {"replicas": 2, "template": TEMPLATE}}
TORCH: Final = {"Master": {"replicas": 1, "template": TEMPLATE}, "Worker": {"replicas": 2, "template": TEMPLATE}}
ROLE, TYPE, GROUP = "training.kubeflow.org/job-role", "training.kubeflow.org/replica-type", "ray.io/group"
MPI_JOB: Final = obj("MPIJob", "train", spec={"mpiReplicaSpecs": MPI})
TORCH_JOB: Final = obj("PyTorchJob", "train", spec={"pytorchReplicaSpecs": TORCH})
RAY: Final = obj(
    "RayCluster",
    "tune",
    spec={
        "headGroupSpec": {"template": TEMPLATE},
        "workerGroupSpecs": [{"groupName": "Trials", "replicas": 1, "template": TEMPLATE}],
    },
)


def running(owner: Object, name: str, label: str, value: str, phase: str = "Running") -> Object:
    found = pod(name, owner=owner, phase=phase, conditions=[condition("Ready", str(phase == "Running"))])
    found["metadata"]["labels"] = {label: value}
    found["spec"]["nodeName"] = "cpu-0"
    return found


def workers(owner: Object, label: str, count: int = 2) -> list[Object]:
    return [running(owner, f"worker-{number}", label, "worker") for number in range(count)]


def asked(subject: Object, *objects: Object) -> Answer:
    return explain(bundle(subject, *objects))


def test_an_mpi_job_without_its_launcher_does_not_run() -> None:
    found = asked(MPI_JOB, *workers(MPI_JOB, ROLE))
    assert found.part.layer is Layer.CONTROLLER
    assert found.part.cause == "group launcher of mpijob/train has no pod; the other 2 of 3 run"
    assert found.part.numbers == {"group": "launcher", "wanted": "1", "pods": "0"}
    assert "the log of the controller of MPIJob" in found.part.fix


def test_a_launcher_whose_job_is_suspended_says_so() -> None:
    job = obj("Job", "train-launcher", owner=MPI_JOB, spec={"suspend": True})
    assert "because job/train-launcher is suspended" in asked(MPI_JOB, job, *workers(MPI_JOB, ROLE)).part.cause


def test_an_mpi_job_with_its_launcher_runs() -> None:
    job = obj("Job", "train-launcher", owner=MPI_JOB)
    found = asked(MPI_JOB, job, running(job, "train-launcher-a", ROLE, "launcher"), *workers(MPI_JOB, ROLE))
    assert found.sentence == "mpijob/train runs: 3 of 3 pods, on cpu-0."


@pytest.mark.parametrize("there", [0, 1])
def test_fewer_workers_than_wanted_are_counted(there: int) -> None:
    found = asked(TORCH_JOB, running(TORCH_JOB, "master", TYPE, "master"), *workers(TORCH_JOB, TYPE, there))
    assert found.part.layer is Layer.CONTROLLER
    assert (f"group worker of pytorchjob/train has {'1 of 2 pods' if there else 'no pod'}") in found.part.cause


def test_pods_that_have_succeeded_are_not_missing_also_when_they_are_gone() -> None:
    master = running(TORCH_JOB, "master", TYPE, "master")
    done = running(TORCH_JOB, "worker-0", TYPE, "worker", "Succeeded")
    assert asked(TORCH_JOB, master, done, *workers(TORCH_JOB, TYPE, 1)).part.layer is Layer.RUNS
    counted = {**TORCH_JOB, "status": {"replicaStatuses": {"Worker": {"succeeded": 1}}}}
    assert asked(counted, master, done, *workers(TORCH_JOB, TYPE, 1)).part.layer is Layer.RUNS
    assert asked(counted, master, *workers(TORCH_JOB, TYPE, 1)).part.layer is Layer.RUNS


def test_a_ray_cluster_without_its_head_does_not_run() -> None:
    worker = running(RAY, "worker", GROUP, "Trials")
    assert asked(RAY, worker).part.cause == "group head of raycluster/tune has no pod; the other 1 of 2 run"
    assert asked(RAY, worker, running(RAY, "head", GROUP, "headgroup")).part.layer is Layer.RUNS


def test_a_ray_job_answers_for_its_cluster() -> None:
    job = obj("RayJob", "tune", spec={})
    cluster = {**RAY, "metadata": {**RAY["metadata"], "ownerReferences": [{"uid": job["metadata"]["uid"]}]}}
    found = asked(job, cluster, running(cluster, "head", GROUP, "headgroup"))
    assert "group trials of raycluster/tune has no pod" in found.part.cause


def test_every_kind_that_a_team_applies_is_read() -> None:
    """A pod or a Workload is asked about as well, and its job has to be known then."""
    served: set[Any] = {*kinds.JOBS, *kinds.SERVERS, kinds.TRAIN_JOB, kinds.WORKFLOW, kinds.INFERENCE_SERVICE}
    assert {(each.group, each.kind) for each in served - {kinds.DAEMON_SET}} <= {
        (version.rpartition("/")[0], kind) for version, kind in NAMESPACED
    }


def test_a_workload_of_an_mpi_job_has_its_answer() -> None:
    admitted = obj("Workload", "mpijob-train", owner=MPI_JOB, status={"conditions": [condition("Admitted", "True")]})
    found = asked(admitted, MPI_JOB, *workers(MPI_JOB, ROLE))
    assert found.part.layer is Layer.CONTROLLER
    assert "group launcher of mpijob/train has no pod" in found.part.cause


def test_a_set_beyond_the_share_answers_although_kueue_names_a_taint_of_another_set() -> None:
    """As Kueue wrote it about an MPIJob (kueue v0.19.2, 2026-11-22)."""
    limits = {"resources": {"limits": {"cpu": "1", "nvidia.com/mig-1g.5gb": "1"}}}
    template = {
        "spec": {
            "containers": [{"name": "main", "image": "a:1", **limits}],
            "nodeSelector": {"platform.slipway/pool": "a100"},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        }
    }
    queued = {"labels": {"kueue.x-k8s.io/queue-name": "default"}}
    groups = {"Launcher": MPI["Launcher"], "Worker": {"replicas": 40, "template": template}}
    job = obj("MPIJob", "train", spec={"mpiReplicaSpecs": groups}, metadata=queued)
    message = (
        "couldn't assign flavors to pod set launcher: untolerated taint {nvidia.com/gpu true NoSchedule <nil>} in "
        "flavor a100, untolerated taint {nvidia.com/gpu true NoSchedule <nil>} in flavor gpu-spot"
    )
    found = asked(job, workload(message, owner=job))
    assert found.part.layer is Layer.QUOTA
    assert "5 of a100 has 35 of nvidia.com/mig-1g.5gb (given: 40)" in found.part.cause
    assert found.part.evidence
    groups["Worker"] = {**groups["Worker"], "replicas": 4}
    assert asked(job, workload(message, owner=job)).part.layer is Layer.QUEUE


# What the scheduler reports on a pod, joined with the pools of the stack.


JOB = obj("Job", "train", status={})
NO_CPU = (
    "0/7 nodes are available: 3 Insufficient memory, 3 node(s) had untolerated taint(s), 4 Insufficient cpu. "
    "no new claims to deallocate, preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling."
)


def test_the_scheduler_joined_with_the_pools_of_the_stack() -> None:
    nodes = [obj("Node", f"cpu-{number}", metadata={"labels": {POOL: "cpu"}}) for number in range(6)]
    read = bundle(JOB, unscheduled(NO_CPU, owner=JOB, spec={"nodeSelector": {POOL: "cpu"}}), *nodes[:1])
    assert explain(read).sentence == (
        "job/train has no node that the scheduler accepts: no node that exists can take it (short of cpu, memory), and "
        "its pools may have more: cpu (1 of 6 nodes); next: wait for the autoscaler; if it has not reacted in five "
        "minutes, look at its log."
    )
    full = explain(replace(read, objects=(*read.objects, *nodes[1:])))
    assert full.part.layer is Layer.POOL_LIMIT
    assert full.part.numbers["limit"] == "6"
    assert "pools.cpu.max" in full.part.fix


# What would hold a Ray workload, by the settings of stack dev alone.


SIZE = {"cpu": "1", "memory": "1Gi"}
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}


def ray_pod(pool: str, **devices: str) -> Object:
    """A pod on a pool of dev."""
    main = {"name": "main", "image": "registry.example.com/a:1", "resources": {"limits": {**SIZE, **devices}}}
    return spec(main, nodeSelector={POOL: pool}, tolerations=[TOLERATION])


def job(**more: Any) -> Object:
    """A right RayJob with workers on Spot GPUs."""
    found = ray.job(ray_pod("cpu"), worker=ray_pod("gpu-spot", **{"nvidia.com/gpu": "1"}), **more)
    return {**found, "metadata": {**found["metadata"], "namespace": "vision"}}


def asked_of_file(manifest: Object, **target: Any) -> Answer:
    return answer(manifest, target=replace(DEV, **target), rules=Admission(), dry_run=None, others=(manifest,))


def test_a_right_job_is_held_by_nothing_and_spot_needs_no_claim() -> None:
    assert not asked_of_file(job()).held


@pytest.mark.parametrize(
    ("manifest", "layer", "text"),
    [
        (job(activeDeadlineSeconds=None), Layer.ADMISSION, "activeDeadlineSeconds"),
        (job(activeDeadlineSeconds=7 * 86400, backoffLimit=2), Layer.ADMISSION, "activeDeadlineSeconds"),
        (job(ttlSecondsAfterFinished=86400), Layer.ADMISSION, "ttlSecondsAfterFinished"),
        (job(backoffLimit=21, activeDeadlineSeconds=60), Layer.ADMISSION, "backoffLimit"),
        (job(replicas=100), Layer.QUOTA, "(given: 100)"),
        (job(replicas=0, minReplicas=100), Layer.ADMISSION, "minReplicas of group"),
        (job(replicas=25, numOfHosts=4), Layer.QUOTA, "(given: 100)"),
    ],
)
def test_a_wrong_one_is_explained_by_its_layer(manifest: Object, layer: Layer, text: str) -> None:
    found = asked_of_file(manifest)
    assert found.held
    assert found.part.layer is layer
    assert text in found.text()


def test_the_add_on_is_named_if_it_is_missing() -> None:
    addons = frozenset(DEV.addons or ()) - {Kuberay}
    for manifest in (job(), ray.cluster(), ray.service()):
        assert "needs the add-on kuberay" in asked_of_file(manifest, addons=addons).text()


def test_the_submitter_is_one_of_its_pods() -> None:
    assert [one.name for one in podsets(ray.selecting())] == ["submitter"]
    assert [(one.name, one.count) for one in podsets(job(replicas=3))] == [("head", 1), ("workers", 3)]


def test_a_suspended_service_without_a_queue_is_started_by_nobody() -> None:
    subject = ray.service(queued=False, suspend=True)
    subject["metadata"] |= {"namespace": "vision", "uid": "1"}
    assert "it is suspended, and no queue would start it" in explain(bundle(subject)).text()

"""The answer from the objects: layers in order, and the text."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from sandbox.nodes.spec import OWNER
from slipway.why.answer import Answer, Evidence, Layer, Part
from slipway.why.bundle import Bundle
from slipway.why.explain import explain
from tests.slipway.why.objects import (
    POOL,
    Object,
    bound,
    bundle,
    cases,
    condition,
    event,
    obj,
    pod,
    unscheduled,
    workload,
)  # fmt: skip

# The layer that answers first, for jobs and pods in every state.


JOB = obj("Job", "train", status={})
NO_CLAIM = '0/7 nodes are available: persistentvolumeclaim "checkpionts" not found. not found'


def job(*conditions: Object, **spec: Any) -> Object:
    return obj("Job", "train", spec=spec, status={"conditions": list(conditions)})


def of_job(*objects: Object, events: tuple[Object, ...] = (), subject: Object = JOB) -> Bundle:
    return bundle(subject, *objects, events=events)


def refused(message: str) -> Bundle:
    return of_job(events=(event(JOB, "FailedCreate", f"Error creating: {message}", by="job-controller"),))


def waiting(reason: str, message: str = "", **more: Any) -> Object:
    state = {"name": "main", "image": "a:1", "state": {"waiting": {"reason": reason, "message": message}}, **more}
    return bound(owner=JOB, containerStatuses=[state])


def mounting(*events: Sequence[str]) -> Bundle:
    one = bound(owner=JOB)
    return of_job(one, events=tuple(event(one, reason, text, kind=kind) for reason, text, kind in events))


def ended(code: int, why: str, **of_pod: Any) -> Object:
    state = {"terminated": {"exitCode": code, "reason": why}}
    statuses = [{"name": "main", "image": "a", "state": state}]
    return pod(owner=JOB, phase="Failed", containerStatuses=statuses, **of_pod)


def serving(kind: str, *conditions: Sequence[str]) -> Bundle:
    """An object whose only pod is ready."""
    subject = obj(kind, "llm", status={"conditions": [condition(*one) for one in conditions]})
    ready = bound(owner=subject) | {"status": {"phase": "Running", "conditions": [condition("Ready", "True")]}}
    return bundle(subject, ready)


def on_pool(name: str, device: str = "nvidia.com/mig-1g.5gb") -> Object:
    """A pod that waits for a node of a pool."""
    container = {"name": "main", "image": "a:1", "resources": {"limits": {device: "1"}}}
    spec = {"nodeSelector": {POOL: name}, "tolerations": [{"operator": "Exists"}], "containers": [container]}
    return unscheduled("0/3 nodes are available: 3 Insufficient a.", spec=spec)


MIG_REFUSED = (
    "Error creating: pods \"a\" is forbidden: ValidatingAdmissionPolicy 'gpu-pool.platform.slipway' with binding "
    "'gpu-pool.platform.slipway' denied request: no pool fits this pod, it would stay pending forever: it requests "
    "nvidia.com/mig-3g.20gb 1. Nodes offer: a100 (nvidia.com/mig-1g.5gb 56). Select the pool and tolerate its taints"
)
CASES: dict[str, tuple[Bundle, Layer, str]] = {
    "a NodePool that is not ready": (
        bundle(
            on_pool("a100"),
            obj("NodePool", "a100", status={"conditions": [condition("Ready", "False", "", "NodeClassReady=False")]}),
        ),
        Layer.NODE,
        "nodepool/a100 is not ready: NodeClassReady=False",
    ),
    "a MIG profile that no pool has": (
        bundle(
            (rejected := job(template={"spec": on_pool("a100", "nvidia.com/mig-3g.20gb")["spec"]})),
            events=(event(rejected, "FailedCreate", MIG_REFUSED),),
        ),
        Layer.ADMISSION,
        "it requests nvidia.com/mig-3g.20gb 1; pool a100 has no such MIG instance (given: 1)",
    ),
}


def of_row(row: dict[str, Any]) -> Bundle:
    """What is read about an object, of a row of `cases.yaml`."""
    if "object" in row:
        return bundle(obj(name="it", **row["object"]))
    if "serving" in row:
        return serving(row["serving"]["kind"], *row["serving"].get("conditions", ()))
    if "refused" in row:
        return refused(row["refused"])
    if "mounting" in row:
        return mounting(*row["mounting"])
    beside = [obj(**one) for one in row.get("beside", ())]
    pods = [workload(row["workload"], owner=JOB)] if "workload" in row else []
    if "unscheduled" in row:
        pods.append(unscheduled(row["unscheduled"], owner=JOB, spec=row.get("pod")))
    if "bound" in row:
        one = bound(owner=JOB)
        pods.append(one | {"status": {**one["status"], **row["bound"]}})
    if "waiting" in row:
        reason, message, status = row["waiting"]
        pods.append(waiting(reason, message, **status))
    if "ended" in row:
        code, why, of_pod = row["ended"]
        pods.append(ended(code, why, **of_pod))
    subject = job(*(condition(*one) for one in row.get("job", ())), **row.get("spec", {}))
    events = tuple(event(about, *row["event"]) for about in beside if "event" in row)
    return of_job(*pods, *beside, subject=subject, events=events)


@cases("objects")
def test_an_answer_names_layer_and_cause(row: dict[str, Any]) -> None:
    check_answer(of_row(row), Layer(row["layer"]), row["says"])


@pytest.mark.parametrize("case", CASES)
def test_the_answer_names_the_layer_and_the_cause(case: str) -> None:
    check_answer(*CASES[case])


def check_answer(read: Bundle, layer: Layer, cause: str) -> None:
    answer = explain(read)
    assert (answer.part.layer, cause in answer.part.cause) == (layer, True), answer
    assert answer.held is (layer not in (Layer.RUNS, Layer.FINISHED, Layer.UNREAD))
    assert bool(answer.part.fix) is answer.held


def test_a_rayjob_of_the_sandbox_is_not_sent_to_logs_that_nothing_writes() -> None:
    simulated = obj("Node", "cpu-0", metadata={"annotations": {OWNER: "dev"}})
    failed = obj("RayJob", "tune", status={"jobDeploymentStatus": "Failed", "reason": "SubmissionFailed"})
    assert "in the sandbox nothing runs in pods" in explain(bundle(failed, simulated)).part.fix
    assert "submitter" in explain(bundle(failed, obj("Node", "cpu-0"))).part.fix


def test_what_can_never_run_comes_before_what_waits() -> None:
    waits = unscheduled(NO_CLAIM, name="a", owner=JOB)
    state = {"name": "main", "image": "a:9", "state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}}
    never = bound(owner=JOB, containerStatuses=[state]) | {"metadata": {**pod("b", owner=JOB)["metadata"]}}
    answer = explain(of_job(waits, never))
    assert (answer.part.layer, answer.part.never) == (Layer.IMAGE, True)
    assert "has an image that can't be pulled" in answer.sentence


def test_of_several_pods_the_one_that_came_least_far_answers() -> None:
    first = unscheduled(NO_CLAIM, name="a", owner=JOB)
    second = waiting("ImagePullBackOff") | {"metadata": {**pod("b", owner=JOB)["metadata"]}}
    answer = explain(of_job(second, first))
    assert answer.part.cause.startswith("1 of 2 pods, pod/a first: claim checkpionts does not exist")
    assert answer.part.numbers["waiting"] == "2"


def test_pods_that_were_created_later_end_a_refusal() -> None:
    read = refused('pods "a" is forbidden: exceeded quota: team, requested: pods=1, used: pods=9, limited: pods=9')
    assert explain(read).part.layer is Layer.QUOTA
    some = replace(read, objects=(bound(owner=JOB),))
    assert explain(some).part.cause.startswith("all but 1 of its pods are not created: ResourceQuota team")
    later = bound(owner=JOB) | {"status": {"phase": "Running", "conditions": [condition("Ready", "True")]}}
    later["metadata"]["creationTimestamp"] = "2026-11-22T23:00:00Z"
    assert explain(replace(read, objects=(later,))).part.layer is Layer.RUNS


GPUS = {"spec": {"containers": [{"name": "a", "resources": {"limits": {"nvidia.com/gpu": "8", "memory": "96Gi"}}}]}}
TOO_LARGE = {
    "LeaderWorkerSet": ({"leaderWorkerTemplate": {"size": 2, "workerTemplate": GPUS}}, "2 pods request 16"),
    "JobSet": ({"replicatedJobs": [
        {"name": "a", "replicas": 1, "template": {"spec": {"template": GPUS}}},
        {"name": "b", "replicas": 2, "template": {"spec": {"template": GPUS}}}]}, "3 pods request 24"),
    "Job": ({"parallelism": 1, "template": GPUS}, ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", TOO_LARGE)
@pytest.mark.parametrize("asked", ["owner", "child"])
def test_more_than_the_whole_quota_is_never_a_matter_of_waiting(kind: str, asked: str) -> None:
    spec, says = TOO_LARGE[kind]
    top = obj(kind, "large", spec=spec)
    child = obj("StatefulSet", "large-0", owner=top)
    message = (
        'pods "a" is forbidden: exceeded quota: team, requested: requests.memory=96Gi,requests.nvidia.com/gpu=8, '
        "used: requests.memory=96Gi,requests.nvidia.com/gpu=8, limited: requests.memory=900Gi,requests.nvidia.com/gpu=8"
    )
    read = bundle(top if asked == "owner" else child, top, child, events=(event(child, "FailedCreate", message),))
    part = explain(read).part
    assert (part.layer, part.never) == (Layer.QUOTA, bool(says))
    assert ("wait" in part.fix) is not part.never
    assert not says or f"{says} of requests.nvidia.com/gpu at once, and the whole quota is 8" in part.cause


@pytest.mark.parametrize(("surge", "never"), [(1, True), (0, False)])
def test_a_rollout_that_waits_for_its_own_old_pods_is_never_a_matter_of_waiting(surge: int, never: bool) -> None:
    rolling = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": 1 - surge}}
    third = {"name": "main", "image": "a:1", "resources": {"limits": {"nvidia.com/mig-1g.5gb": "11", "cpu": "1"}}}
    template = {"spec": {"containers": [third], "nodeSelector": {"platform.slipway/pool": "a100"}}}
    template["spec"]["tolerations"] = [{"operator": "Exists"}]
    top = obj("Deployment", "model", spec={"replicas": 3, "template": template, "strategy": rolling})
    new, old = obj("ReplicaSet", "model-2", owner=top), obj("ReplicaSet", "model-1", owner=top)
    ran = [bound(owner=old) | {"status": {"phase": "Running"}} for _ in range(3)]
    message = (
        'pods "a" is forbidden: exceeded quota: team, requested: requests.nvidia.com/mig-1g.5gb=11, '
        "used: requests.nvidia.com/mig-1g.5gb=33, limited: requests.nvidia.com/mig-1g.5gb=35"
    )
    read = bundle(top, new, old, *ran, events=(event(new, "FailedCreate", message),))
    part = explain(read).part
    assert (part.layer, part.never) == (Layer.QUOTA, never)
    assert ("wait until other pods" in part.fix, "maxSurge: 0" in part.fix) == (not never, never)


def test_a_workload_and_its_job_have_the_same_answer() -> None:
    one = workload("LocalQueue a doesn't exist", owner=JOB)
    assert explain(bundle(one, JOB)).part == explain(bundle(JOB, one)).part
    admitted = workload(status={"conditions": [condition("Admitted", "True")]}, owner=JOB)
    waits = unscheduled(NO_CLAIM, owner=JOB)
    assert explain(bundle(admitted, JOB, waits)).part.layer is Layer.VOLUME


def test_a_wrong_priority_of_the_workload_explains_why_there_is_none() -> None:
    labels = {"kueue.x-k8s.io/queue-name": "default", "kueue.x-k8s.io/priority-class": "urgent"}
    answer = explain(bundle(obj("Job", "train", spec={"suspend": True}, metadata={"labels": labels})))
    assert answer.part.layer is Layer.QUEUE
    assert "there is no WorkloadPriorityClass urgent" in answer.part.cause
    right = {**labels, "kueue.x-k8s.io/priority-class": "experiment"}
    answer = explain(bundle(obj("Job", "train", spec={"suspend": True}, metadata={"labels": right})))
    assert "Kueue has made no Workload for it" in answer.part.cause


def test_a_job_that_has_just_been_resumed_waits_for_its_controller() -> None:
    resumed = job(condition("Suspended", "False", "JobResumed", "Job resumed"))
    assert "it has no pods" in explain(bundle(resumed)).part.cause


def test_a_claim_that_waits_for_a_pod_names_it_or_says_that_nothing_uses_it() -> None:
    claim = obj("PersistentVolumeClaim", "data", spec={"storageClassName": "gp3"}, status={"phase": "Pending"})
    slow = obj("StorageClass", "gp3", provisioner="ebs.csi.aws.com", volumeBindingMode="WaitForFirstConsumer")
    waits = event(
        claim, "WaitForFirstConsumer", "waiting for first consumer to be created before binding", kind="Normal"
    )
    for read in (bundle(claim, slow), bundle(claim, events=(waits,))):
        assert explain(read).part.cause.startswith("nothing uses it yet")
    user = unscheduled("0/3 nodes are available: 3 Insufficient cpu.", spec={"volumes": [
        {"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]})  # fmt: skip
    found = explain(bundle(claim, slow, user)).part
    assert (found.layer, found.cause.split(":")[0]) == (Layer.SCHEDULER, "pod/train-1, which mounts it, has no node")
    fast = {**slow, "volumeBindingMode": "Immediate"}
    failed = event(claim, "ProvisioningFailed", "rpc error: code = InvalidArgument desc = size")
    assert explain(bundle(claim, fast, events=(failed,))).part.never


def test_what_is_below_several_owners_is_followed() -> None:
    train = obj("TrainJob", "train")
    jobset = obj("JobSet", "train", owner=train)
    below = obj("Job", "train-node-0", owner=jobset)
    assert explain(bundle(train, jobset, below, unscheduled(NO_CLAIM, owner=below))).part.layer is Layer.VOLUME


def test_a_cron_job_answers_for_its_newest_run() -> None:
    cron = obj("CronJob", "nightly", spec={"schedule": "0 1 * * *"})
    old = obj("Job", "nightly-1", owner=cron, status={"conditions": [condition("Failed", "True", "Old")]})
    new = obj("Job", "nightly-2", owner=cron, metadata={"creationTimestamp": "2026-11-22T12:30:00Z"})
    answer = explain(bundle(cron, old, new, unscheduled(NO_CLAIM, owner=new)))
    assert answer.part.cause == "its newest run job/nightly-2: claim checkpionts does not exist"
    assert "0 1 * * *" in explain(bundle(cron)).part.cause


def test_the_last_warning_answers_for_a_kind_that_is_unknown() -> None:
    service = obj("InferenceService", "llm")
    answer = explain(bundle(service, events=(event(service, "InternalError", "fails to reconcile predictor"),)))
    assert answer.part.layer is Layer.CONTROLLER
    assert answer.part.cause == "fails to reconcile predictor"


# The answer as text and as plain values.


PART = Part(layer=Layer.VOLUME, cause="claim x does not exist", fix="create it", numbers={"claim": "x"})
SEEN = PART.seen(Evidence("condition PodScheduled of pod/train-1", "0/7 nodes\n  are available"))


def test_text_and_document_have_what_was_not_read() -> None:
    answer = Answer(subject="job/train", part=SEEN, unread=("Node of the cluster: not allowed",))
    assert answer.text().splitlines() == [
        "job/train waits for a volume: claim x does not exist; next: create it.",
        "  condition PodScheduled of pod/train-1: 0/7 nodes are available",
        "  not read: Node of the cluster: not allowed",
    ]
    document = answer.document()
    assert (document["layer"], document["held"], document["numbers"]) == ("volume", True, {"claim": "x"})
    assert document["notRead"] == ["Node of the cluster: not allowed"]


def test_of_what_does_not_exist_yet_the_sentence_says_would() -> None:
    assert Answer(subject="job/a", part=PART, planned=True).sentence.startswith("job/a would get no volume: claim")
    runs = Answer(subject="job/a", part=Part(layer=Layer.RUNS, cause=""))
    assert (runs.sentence, runs.held) == ("job/a runs.", False)


def test_a_pod_of_another_scheduler_that_says_nothing_waits_for_its_queue_or_gang() -> None:
    spec = {"schedulerName": "yunikorn", "containers": [{"name": "main", "image": "a:1"}]}
    waits = explain(bundle(pod(owner=JOB, spec=spec))).part
    assert (waits.layer, waits.cause.split()[0]) == (Layer.QUEUE, "yunikorn")
    unseen = explain(bundle(pod(owner=JOB, spec={**spec, "schedulerName": "default-scheduler"}))).part
    assert unseen.layer is Layer.SCHEDULER

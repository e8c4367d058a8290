"""What Kueue says about a workload, in its own words (kueue v0.19.2)."""

from typing import Any

import pytest

from slipway.why.answer import Layer
from slipway.why.queue import held
from tests.slipway.why.objects import bundle, condition, event, obj, pod, workload

ASSIGN = "couldn't assign flavors to pod set main: "
EXCEEDED = (
    "insufficient quota for nvidia.com/gpu in flavor {}, previously considered podsets requests (0) + current podset "
    "request ({}) > maximum capacity ({})"
)
CASES: dict[str, tuple[str, Layer, str, dict[str, str]]] = {
    "its turn": (
        ASSIGN + "flavor cpu doesn't match node affinity, insufficient unused quota for nvidia.com/gpu in flavor h100, "
        "8 more needed",
        Layer.QUEUE,
        "8 more nvidia.com/gpu must become unused on pool h100",
        {"missing": "8", "pool": "h100"},
    ),
    "larger than the quota of everything": (
        ASSIGN + "flavor cpu doesn't match node affinity, insufficient quota for cpu in flavor a100, previously "
        "considered podsets requests (0) + current podset request (40) > maximum capacity (35696m), insufficient quota "
        "for nvidia.com/mig-1g.5gb in flavor a100, previously considered podsets requests (0) + current podset request "
        "(40) > maximum capacity (21)",
        Layer.QUOTA,
        "it requests 40 nvidia.com/mig-1g.5gb on pool a100, and the team can have at most 21",
        {"limit": "21"},
    ),
    "preemption": (
        ASSIGN + "insufficient unused quota for nvidia.com/gpu in flavor h100, 1 more needed. Pending the preemption "
        "of 2 workload(s)",
        Layer.QUEUE,
        "and 2 workloads are being preempted for it",
        {"missing": "1"},
    ),
    "a pool that is assigned by topology": (
        ASSIGN + 'Flavor "h100" supports only TopologyAwareScheduling, flavor a100 doesn\'t match node affinity, '
        "flavor cpu doesn't match node affinity",
        Layer.QUEUE,
        "pool h100 takes only jobs that say how near each other their pods are placed",
        {"pool": "h100"},
    ),
    "one group that has to wait, and one that exceeds the quota": (
        "couldn't assign flavors to pod set launcher: insufficient unused quota for cpu in flavor cpu, 440m more "
        "needed; couldn't assign flavors to pod set worker: flavor cpu doesn't match node affinity, "
        + EXCEEDED.format("a100", 40, 35),
        Layer.QUOTA,
        "it requests 40 nvidia.com/gpu on pool a100, and the team can have at most 35",
        {"limit": "35"},
    ),
    "larger than the quota": (
        ASSIGN + EXCEEDED.format("h100", 32, 16),
        Layer.QUOTA,
        "it requests 32 nvidia.com/gpu on pool h100, and the team can have at most 16",
        {"requested": "32", "limit": "16"},
    ),
    "no toleration": (
        ASSIGN + EXCEEDED.format("cpu", 1, 0) + ", untolerated taint {nvidia.com/gpu true NoSchedule <nil>} in flavor "
        "a100, untolerated taint {nvidia.com/gpu true NoSchedule <nil>} in flavor gpu-spot",
        Layer.QUEUE,
        "it does not tolerate taint nvidia.com/gpu=true:NoSchedule of pool a100, gpu-spot",
        {"pool": "a100, gpu-spot"},
    ),
    "no pool with the resource": (
        ASSIGN + EXCEEDED.format("cpu", 1, 0),
        Layer.QUOTA,
        "no pool of the team that it selects has any",
        {"requested": "1", "limit": "0"},
    ),
    "no flavor with the labels": (
        ASSIGN + "flavor cpu doesn't match node affinity, flavor h100 doesn't match node affinity",
        Layer.QUEUE,
        "its node selector matches no pool of queue default: not cpu, h100",
        {},
    ),
    "an unknown resource": (
        ASSIGN + "resource nvidia.com/gpu unavailable in ClusterQueue",
        Layer.QUOTA,
        "the team has no share of a pool with nvidia.com/gpu",
        {"resource": "nvidia.com/gpu"},
    ),
    "no such queue": ("LocalQueue defualt doesn't exist", Layer.QUEUE, "LocalQueue defualt does not exist", {}),
    "a queue that is removed": (
        "LocalQueue default is terminating or missing", Layer.QUEUE, "LocalQueue default does not exist", {},
    ),
    "a stopped queue": ("ClusterQueue vision is stopped", Layer.QUEUE, "admits nothing: it is stopped", {}),
    "an inactive queue": ("ClusterQueue vision is inactive", Layer.QUEUE, "admits nothing: it is inactive", {}),
    "topology": (
        ASSIGN + 'topology "h100" allows to fit only 1 out of 2 pod(s)', Layer.QUEUE, "can't be placed together", {},
    ),
    "a LimitRange": (
        "resources didn't satisfy LimitRange constraints: spec.podSets[0]: Invalid", Layer.QUOTA, "LimitRange", {},
    ),
    "anything else": ("Workload is pending evaluation in the scheduling queue", Layer.QUEUE, "pending evaluation", {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_message_of_kueue_names_layer_and_number(case: str) -> None:
    message, layer, cause, numbers = CASES[case]
    one = workload(message)
    part = held(one, bundle(one))
    assert part is not None
    assert (part.layer, cause in part.cause) == (layer, True), part
    assert numbers.items() <= dict(part.numbers).items()
    assert part.fix
    assert message in part.evidence[0].text


def test_a_wrong_queue_names_those_that_exist() -> None:
    one = workload("LocalQueue defualt doesn't exist", queueName="defualt")
    part = held(one, bundle(one, obj("LocalQueue", "default")))
    assert part is not None
    assert part.fix.endswith("a queue of the namespace: default")


def test_a_queue_shows_how_many_wait_in_it() -> None:
    queue = obj("LocalQueue", "default", status={"pendingWorkloads": 3, "admittedWorkloads": 1})
    one = workload(CASES["its turn"][0])
    part = held(one, bundle(one, queue))
    assert part is not None
    assert [each.text for each in part.evidence if each.source == "localqueue/default"] == ["3 pending, 1 admitted"]


@pytest.mark.parametrize(
    ("status", "spec", "cause"),
    [
        ({}, {}, "Kueue has not looked at it yet in queue default"),
        (
            {
                "conditions": [
                    condition("Evicted", "True", "Deactivated", "The workload is deactivated due to exceeding")
                ]
            },
            {"active": False},
            "Kueue has deactivated it: The workload is deactivated due to exceeding",
        ),
        (
            {
                "conditions": [
                    condition("QuotaReserved", "False", "Pending", "Exceeded the PodsReady timeout vision/a"),
                    condition("Evicted", "True", "PodsReadyTimeout", "Exceeded the PodsReady timeout vision/a"),
                    condition("Requeued", "False", "PodsReadyTimeout", ""),
                ],
                "requeueState": {"count": 2, "requeueAt": "2026-11-22T13:00:00Z"},
            },
            {},
            "evicted it, 2 times so far (Exceeded the PodsReady timeout vision/a), and queues it again at 2026-11-22",
        ),
        (
            {
                "conditions": [condition("QuotaReserved", "True", "QuotaReserved")],
                "admissionChecks": [{"name": "west", "state": "Pending", "message": "no worker"}],
            },
            {},
            "it has quota, but admission check west is Pending (no worker)",
        ),
    ],
)
def test_states_without_a_message_of_the_scheduler(status: dict[str, Any], spec: dict[str, Any], cause: str) -> None:
    one = workload(status=status, **spec)
    part = held(one, bundle(one))
    assert part is not None
    assert part.layer is Layer.QUEUE
    assert cause in part.cause


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
    first = workload(CASES["larger than the quota"][0], podSets=sets)
    second = workload(podSets=sets) | {"metadata": {"name": "job-busy", "uid": "second"}}
    part = held(second, bundle(second, first))
    assert part is not None
    assert part.layer is Layer.QUOTA
    other = workload(podSets=[{**sets[0], "count": 1}]) | {"metadata": {"name": "job-small", "uid": "third"}}
    part = held(other, bundle(other, first))
    assert part is not None
    assert "Kueue has not looked at it yet" in part.cause


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("Preempted to accommodate a workload (UID: 1, JobUID: 2) due to reclamation within the cohort", ""),
        (CASES["its turn"][0], "; 8 more nvidia.com/gpu must become unused on pool h100"),
    ],
)
def test_a_preempted_workload_says_by_whom_and_that_it_starts_again(message: str, cause: str) -> None:
    one = workload(message)
    one["status"]["conditions"].append(condition("Preempted", "True", "InCohortReclamation", "Preempted to"))
    part = held(one, bundle(one))
    assert part is not None
    assert part.cause == f"it was preempted by the owner of the quota that it had borrowed{cause}"
    assert "starts again by itself" in part.fix
    assert "condition Preempted of workload/job-train-1a2b3" in [each.source for each in part.evidence]

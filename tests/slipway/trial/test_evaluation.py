"""Whether objects do what is expected of them."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.trial.evaluation import Check, Seen, Status, checks
from slipway.trial.expectations import Expectation
from slipway.why.explain import explain
from tests.slipway.why.objects import POOL, Object, bound, bundle, condition, event, obj, unscheduled, workload

JOB = obj("Job", "train", status={})
DONE = obj("Job", "train", status={"conditions": [condition("Complete", "True")]})
BROKEN = obj("Job", "train", status={"conditions": [condition("Failed", "True", "BackoffLimitExceeded")]})
NODES = [obj("Node", f"{pool}-0", metadata={"labels": {POOL: pool}}) for pool in ("cpu", "a100")]
RUNNING = bound(owner=JOB) | {"status": {"phase": "Running", "conditions": [condition("Ready", "True")]}}
WAITING = unscheduled('0/7 nodes are available: persistentvolumeclaim "x" not found. not found', owner=JOB)
ADMITTED = workload(owner=JOB, status={"conditions": [condition("Admitted", "True")]})
QUEUED = workload("LocalQueue x doesn't exist", owner=JOB)
REFUSED = event(JOB, "FailedCreate", 'pods "a" is forbidden: maximum cpu usage per Container is 8, but limit is 50')


def seen(*objects: Object, subject: Object = JOB, events: tuple[Object, ...] = (), elapsed: float = 5) -> Seen:
    read = bundle(subject, *objects, *NODES, events=events)
    return Seen(bundle=read, answer=explain(read), elapsed=elapsed)


CASES: dict[str, tuple[dict[str, Any], Seen, Status]] = {
    "accepted": ({}, seen(), Status.PASSED),
    "accepted, and refused": ({}, Seen(refusal="no"), Status.FAILED),
    "gone": ({}, Seen(), Status.FAILED),
    "admitted": ({"admitted": True}, seen(ADMITTED), Status.PASSED),
    "not admitted yet": ({"admitted": True}, seen(QUEUED), Status.WAITS),
    "without a Workload": ({"admitted": True}, seen(RUNNING), Status.WAITS),
    "on its pool": ({"runsOn": "cpu"}, seen(RUNNING), Status.PASSED),
    "on another pool": ({"runsOn": "a100"}, seen(RUNNING), Status.FAILED),
    "on no node yet": ({"runsOn": "cpu"}, seen(WAITING), Status.WAITS),
    "in time": ({"completesWithin": "10s"}, seen(subject=DONE), Status.PASSED),
    "too late": ({"completesWithin": "4s"}, seen(subject=DONE), Status.FAILED),
    "failed instead": ({"completesWithin": "10s"}, seen(subject=BROKEN), Status.FAILED),
    "runs still": ({"completesWithin": "10s"}, seen(RUNNING), Status.WAITS),
    "refused": ({"refusedBecause": "no pool"}, Seen(refusal="no pool fits this pod"), Status.PASSED),
    "refused for another reason": ({"refusedBecause": "no pool"}, Seen(refusal="no queue"), Status.FAILED),
    "its pods are refused": ({"refusedBecause": "maximum cpu usage"}, seen(events=(REFUSED,)), Status.PASSED),
    "not refused": ({"refusedBecause": "no pool"}, seen(RUNNING), Status.FAILED),
    "not refused yet": ({"refusedBecause": "no pool"}, seen(), Status.WAITS),
    "held": ({"heldBy": "volume", "because": "claim x does not exist"}, seen(WAITING), Status.PASSED),
    "held by another layer": ({"heldBy": "image"}, seen(WAITING), Status.WAITS),
    "held for another reason": ({"because": "claim y"}, seen(WAITING), Status.WAITS),
    "not held": ({"heldBy": "volume"}, seen(subject=DONE), Status.FAILED),
}


@pytest.mark.parametrize("case", CASES)
def test_an_expectation_is_met_waits_or_is_not_met(case: str) -> None:
    given, read, status = CASES[case]
    (found,) = checks("job/train", Expectation.model_validate(given), read)
    assert found.status is status, found
    assert found.subject == "job/train"


def test_several_expectations_are_several_checks() -> None:
    both = Expectation.model_validate({"admitted": True, "runsOn": "cpu"})
    assert checks("job/train", both, seen(ADMITTED, RUNNING)) == [
        Check("job/train", "admitted", Status.PASSED),
        Check("job/train", "runs on cpu", Status.PASSED, "cpu-0"),
    ]

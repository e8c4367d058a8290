"""What is expected of manifests, and whether an object does it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.trial.evaluation import Check, Seen, Status, checks
from slipway.trial.expectations import Expectation, read
from slipway.why.explain import explain
from spec.errors import SlipwayError
from tests.slipway.why.objects import POOL, Object, bound, bundle, condition, event, obj, unscheduled, workload

# Folders of manifests with their expectations.


A_JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}}
CLAIM = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}


def folder(path: Path, expect: object = None, **files: object) -> Path:
    for name, document in files.items():
        (path / f"{name}.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    if expect is not None:
        (path / "try.yaml").write_text(yaml.safe_dump(expect), encoding="utf-8")
    return path


def test_a_folder_without_expectations_expects_that_everything_is_accepted(tmp_path: Path) -> None:
    trial = read(folder(tmp_path, b={"kind": "List", "items": [JOB]}, a=CLAIM))
    assert list(trial.manifests) == ["persistentvolumeclaim/data", "job/train"]
    assert trial.expected["job/train"] == Expectation()
    assert (trial.namespace, trial.within("job/train")) == (None, 60)


def test_expectations_are_read_with_their_time(tmp_path: Path) -> None:
    expect = {
        "namespace": "vision",
        "within": "30s",
        "expect": {"job/train": {"completesWithin": "2m", "runsOn": "cpu"}},
    }
    trial = read(folder(tmp_path, expect, a=A_JOB, b=CLAIM))
    assert trial.expected["job/train"].runs_on == "cpu"
    assert [trial.within(name) for name in trial.manifests] == [120, 30]


@pytest.mark.parametrize(
    ("expect", "files", "error"),
    [
        (None, {}, "has no manifests"),
        (None, {"a": {"kind": "Job"}}, "needs apiVersion, kind and metadata.name"),
        (None, {"a": A_JOB, "b": A_JOB}, "job/train is in the folder twice"),
        ({"expect": {"job/tarin": {}}}, {"a": A_JOB}, "job/tarin: not in the folder, which has job/train"),
        ({"expect": {"job/train": {"runOn": "cpu"}}}, {"a": A_JOB}, "runOn: Extra inputs are not permitted"),
        ({"expect": {"job/train": {"completesWithin": "fast"}}}, {"a": A_JOB}, "completesWithin"),
        (
            {"expect": {"job/train": {"heldBy": "quote"}}},
            {"a": A_JOB},
            "no layer is called quote: use one of admission",
        ),
    ],
)
def test_a_wrong_folder_is_refused(tmp_path: Path, expect: object, files: dict[str, object], error: str) -> None:
    with pytest.raises(SlipwayError, match=error):
        read(folder(tmp_path, expect, **files))


def test_an_object_whose_name_the_api_server_would_generate_gets_one(tmp_path: Path) -> None:
    """As Kueue's own samples; the expectations can name it."""
    job = {**A_JOB, "metadata": {"generateName": "sample-job-", "labels": {"a": "b"}}}
    trial = read(folder(tmp_path, {"expect": {"job/sample-job-try": {"admitted": True}}}, a=job))
    assert trial.manifests["job/sample-job-try"]["metadata"] == {"name": "sample-job-try", "labels": {"a": "b"}}
    assert trial.expected["job/sample-job-try"].admitted


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SlipwayError, match="is not a folder"):
        read(tmp_path / "nowhere")


def test_a_file_that_is_no_yaml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [", encoding="utf-8")
    with pytest.raises(SlipwayError, match="not valid YAML"):
        read(tmp_path)


# Whether objects do what is expected of them.


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
    "started in time": ({"startsWithin": "10s"}, seen(RUNNING), Status.PASSED),
    "started too late": ({"startsWithin": "4s"}, seen(RUNNING), Status.FAILED),
    "not started yet": ({"startsWithin": "10s"}, seen(WAITING), Status.WAITS),
    "not started in time": ({"startsWithin": "4s"}, seen(WAITING), Status.FAILED),
    "starts again": ({"startsAgain": True}, replace(seen(RUNNING), lost=True), Status.PASSED),
    "has not started again": ({"startsAgain": True}, seen(RUNNING), Status.WAITS),
    "ended without starting again": ({"startsAgain": True}, seen(subject=DONE), Status.FAILED),
    "goes on": ({"startsAgain": False}, seen(RUNNING), Status.PASSED),
    "does not run yet": ({"startsAgain": False}, seen(WAITING), Status.WAITS),
    "was disturbed": ({"startsAgain": False}, replace(seen(RUNNING), disturbed=True), Status.FAILED),
    "fails": ({"fails": True}, seen(subject=BROKEN), Status.PASSED),
    "has not failed": ({"fails": True}, seen(RUNNING), Status.WAITS),
    "ended well": ({"fails": True}, seen(subject=DONE), Status.FAILED),
    "never preempted": ({"preemptedBy": "job/b"}, seen(subject=DONE), Status.FAILED),
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

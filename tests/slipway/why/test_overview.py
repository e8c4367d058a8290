"""The list of all that waits, and the forms of an answer in a terminal."""

from typing import Any

import pytest

from slipway.why.answer import Answer, Evidence, Layer, Part, fitting
from slipway.why.collect import Survey
from slipway.why.overview import held
from tests.slipway.why.objects import DEV, Object, obj, unscheduled, workload

WAITS = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor cpu, 1 more needed"


def queued(name: str, at: int, priority: int = 0) -> list[Object]:
    """A job with its Workload in the queue."""
    job = obj("Job", name, metadata={"creationTimestamp": f"2026-11-22T12:0{at}:00Z"})
    made = workload(WAITS, owner=job, priority=priority)
    own = {"name": f"job-{name}", "uid": name, "creationTimestamp": f"2026-11-22T12:0{at}:01Z"}
    return [job, {**made, "metadata": {**made["metadata"], **own}}]


def test_what_waits_is_listed_with_its_position_and_what_has_ended_is_not() -> None:
    gone = obj("Job", "gone", status={"conditions": [{"type": "Complete", "status": "True"}]})
    alone = unscheduled("0/1 nodes are available: 1 Insufficient cpu.")
    alone["metadata"]["uid"] = "alone"
    objects = [
        *queued("late", 2),
        *queued("first", 1),
        *queued("urgent", 3, 9),
        gone,
        alone,
    ]
    rows = list(held(Survey(objects, (), ()), DEV))
    assert [(one.answer.subject, one.queue) for one in rows] == [
        ("pod/train-1", ""), ("job/first", "default 2/3"), ("job/late", "default 3/3"), ("job/urgent", "default 1/3")
    ]  # fmt: skip
    assert rows[1].row()[:4] == ("vision", "job/first", Layer.QUEUE, "2026-11-22T12:01:00Z")
    assert all(one.document()["next"] for one in rows)


RULE = (
    "at most 3 days (at most 9; in a JobSet in each template), n: 3; a RayJob sets x. The deadline of a JobSet counts "
    "once; pods stop; a schedule keeps 20."
)


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("job", "at most 3 days (at most 9), n: 3; pods stop."),
        ("cronjob", "at most 3 days (at most 9), n: 3; pods stop; a schedule keeps 20."),
        (
            "jobset",
            f"{RULE.partition(' a RayJob')[0]} The deadline of a JobSet counts once; pods stop.",
        ),
    ],
)
def test_clauses_on_other_kinds_are_left_out(kind: str, left: str) -> None:
    assert fitting(RULE, kind) == left


def test_an_answer_is_wrapped_and_short_and_its_next_step_is_always_shown() -> None:
    evidence = [Evidence("event", "word " * 40)]
    part: dict[str, Any] = {"layer": Layer.QUEUE, "evidence": evidence}
    short = Answer(subject="job/a", part=Part(cause="b", fix="wait", **part)).text(40, 4).splitlines()
    assert (len(short), max(map(len, short)) <= 40, short[-1]) == (4, True, "  4 more lines: --verbose")
    long = Answer(subject="job/a", part=Part(cause="word " * 40, fix="wait", **part)).text(40, 4)
    assert "next: wait." in " ".join(long.split())

"""A window in the sandbox and in the replay: what is submitted, seen and compared."""

from __future__ import annotations

import pytest

from slipway.replay.plan import Options, Plan
from tests.slipway.replay import examples
from tools.figures.judge import as_submitted, compare, mean_wait, same_order
from tools.figures.living import Side, manifest


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        pytest.param({"a": 0, "b": 5, "c": 9}, {"a": 1, "b": 7, "c": 8}, 1.0, id="same"),
        pytest.param({"a": 0, "b": 5, "c": 9}, {"a": 1, "b": 9, "c": 5}, 2 / 3, id="one pair of three turned round"),
        pytest.param({"a": 0, "b": 0.5}, {"a": 9, "b": 2}, None, id="too near each other"),
        pytest.param({"a": 0, "b": 9}, {"a": 9}, None, id="in one of the two alone"),
    ],
)
def test_the_order_of_admission(one: dict[str, float], other: dict[str, float], share: float | None) -> None:
    assert same_order(one, other) == share


def test_waits_last_until_the_end_and_jobs_of_one_side_are_named() -> None:
    here = Side(submitted={"a": 0, "b": 10}, started={"a": 4})
    there = Side(submitted={"a": 0, "b": 10}, started={"a": 4, "b": 20})
    assert mean_wait(here, 110) == 52
    found = compare(here, there, 110)
    assert (found["sandbox"]["meanWait"], found["replay"]["meanWait"]) == (52, 7)
    assert (found["startedInOne"], found["sameOrder"]) == (["b"], None)


def planned() -> Plan:
    return examples.planned(options=Options(until=100.0))


def test_a_job_of_the_plan_is_a_job_of_the_cluster() -> None:
    job = next(one for one in planned().document["jobs"] if one["podSets"][0]["count"] == 2)
    found = manifest(job)
    assert found["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == job["priorityClass"]
    assert (found["spec"]["parallelism"], found["spec"]["completions"]) == (2, 2)
    template = found["spec"]["template"]
    assert template["metadata"]["annotations"]["sandbox.slipway/duration"] == "3600s"
    assert template["spec"]["containers"][0]["resources"]["requests"] == job["podSets"][0]["requests"]


def test_the_replay_gets_the_jobs_as_the_sandbox_got_them() -> None:
    plan = planned()
    first, second, *_ = (one["name"] for one in plan.document["jobs"])
    found = as_submitted(plan, {first: 7.0, second: 3.0}).document["jobs"]
    assert [(one["name"], one["submitted"]) for one in found] == [(second, 3.0), (first, 7.0)]

"""A window in the sandbox and in the replay: what is submitted, seen and compared."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from slipway.replay.plan import Options, Plan
from spec.errors import SlipwayError
from tests.slipway.replay import examples
from tools.figures import living
from tools.figures.judge import as_submitted, compare, mean_wait, same_order
from tools.figures.living import Side, Window, manifest


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


class Cluster:
    """Answers like a cluster in which every Job runs at once, on a node of its own."""

    def __init__(self, plan: Plan, *, busy: bool = False, refuses: bool = False) -> None:
        self.plan, self.busy, self.refuses = plan, busy, refuses
        self.jobs: dict[str, float] = {}
        self.deleted: list[str] = []
        self.discovery = self

    def find(self, _version: str, kind: str) -> str:
        return kind

    def list(self, kind: str, selector: str = "") -> Iterator[dict[str, Any]]:
        pool = next(one for one in self.plan.document["pools"] if one["name"] == "h100")
        sold = pool["offerings"][0]
        labels = {
            "karpenter.sh/nodepool": "h100",
            "node.kubernetes.io/instance-type": sold["instanceType"],
            "karpenter.sh/capacity-type": sold["capacityType"],
        }
        for name, at in {"before": 0.0}.items() if self.busy else self.jobs.items():
            moment = datetime.fromtimestamp(at, UTC).isoformat()
            meta = {"name": name, "uid": name, "creationTimestamp": moment}
            if kind == "NodeClaim":
                yield {"metadata": {**meta, "labels": labels}}
            elif kind == "Job":
                yield {"metadata": meta}
            elif kind == "Pod":
                assert selector
                state = {"running": {"startedAt": moment}}
                if at + 20 < time.time():
                    ended = datetime.fromtimestamp(at + 20, UTC).isoformat()
                    state = {"terminated": {"startedAt": moment, "finishedAt": ended}}
                status = {"containerStatuses": [{"state": state}]}
                for number in range(self.plan.jobs[name].job.pods):
                    owned = {"labels": {"batch.kubernetes.io/job-name": name}, "uid": f"{name}-{number}"}
                    yield {"metadata": owned, "status": status}
            else:
                stats = {"evictions": [{"reason": "Preempted", "count": 2}, {"reason": "Deactivated", "count": 1}]}
                admitted = {"type": "Admitted", "status": "True", "lastTransitionTime": moment}
                yield {
                    "metadata": {"ownerReferences": [{"name": name}]},
                    "status": {"conditions": [admitted], "schedulingStats": stats},
                }

    def submit(self, _client: object, job: Mapping[str, Any], _namespace: str, _member: str) -> str:
        if self.refuses:
            return "no such queue"
        self.jobs[job["metadata"]["name"]] = time.time()
        return ""

    def delete(self, ref: Any, _propagation: str) -> None:
        self.deleted.append(ref.name)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "time", lambda: now)


def test_a_window_is_submitted_in_time_watched_and_removed(clock: None, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned()
    cluster = Cluster(plan)
    monkeypatch.setattr(living, "submit", cluster.submit)
    side = Window(cluster, plan, 100.0, lambda _: None).run()  # type: ignore[arg-type]
    # Those at 0 and 60 s; the others come after the end.
    first, second = side.submitted
    assert side.submitted == {first: 0, second: 60}
    assert side.started == side.admitted == side.submitted
    assert side.preemptions == 4
    assert cluster.deleted == list(cluster.jobs)
    # A node for the first 60 s, then two: 140 s.
    assert side.node_hours == pytest.approx(140 / 3600, rel=0.02)
    price = next(one for one in plan.document["pools"] if one["name"] == "h100")["offerings"][0]["usdPerHour"]
    assert side.usd == pytest.approx(side.node_hours * price)
    # Two GPUs and a quarter of one, for 20 s each.
    assert side.gpu_hours == pytest.approx((40 + 5) / 3600, rel=0.02)


def test_a_cluster_with_nodes_is_refused(clock: None) -> None:
    plan = planned()
    with pytest.raises(SlipwayError, match="has nodes"):
        Window(Cluster(plan, busy=True), plan, 1.0, lambda _: None).run()  # type: ignore[arg-type]


def test_a_job_that_the_cluster_refuses_ends_the_window(clock: None, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned()
    cluster = Cluster(plan, refuses=True)
    monkeypatch.setattr(living, "submit", cluster.submit)
    with pytest.raises(SlipwayError, match="no such queue"):
        Window(cluster, plan, 1.0, lambda _: None).run()  # type: ignore[arg-type]


def test_the_replay_gets_the_jobs_as_the_sandbox_got_them() -> None:
    plan = planned()
    first, second, *_ = (one["name"] for one in plan.document["jobs"])
    found = as_submitted(plan, {first: 7.0, second: 3.0}).document["jobs"]
    assert [(one["name"], one["submitted"]) for one in found] == [(second, 3.0), (first, 7.0)]

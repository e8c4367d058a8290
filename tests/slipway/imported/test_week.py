"""The week that was: what has ended in a cluster is replayed on its own objects, and compared with what happened."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from slipway.cli import main
from slipway.replay.happened import compared, objections, sentence
from slipway.replay.jobs import Job
from slipway.replay.result import Outcome

KUEUE: Final = "kueue.x-k8s.io/v1beta2"
START: Final = datetime(2026, 11, 2, tzinfo=UTC)
EACH: Final = 1800.0  # seconds of a job, which takes all GPUs
OUTCOME: Final[dict[str, Any]] = {
    **{"team": "vision", "job_class": "", "submitted": 0.0, "finished": True, "refused": "", "preempted_by": {}},
    **{"eviction": "", "lost_gpu_hours": 0.0, "uses": {}},
}


def of(then: list[float | None], replayed: list[float | None]) -> tuple[list[Job], list[Outcome]]:
    """Jobs that are submitted a minute after one another, with their waits; None for one that did not start."""
    jobs = [
        Job(name=str(number), submitted=60.0 * number, duration=600, gpu_millis=1000, waited=one)
        for number, one in enumerate(then)
    ]
    outcomes = [
        Outcome(**OUTCOME, job=str(number), waited=one or 0.0, started=one is not None)
        for number, one in enumerate(replayed)
    ]
    return jobs, outcomes


def test_the_error_is_that_of_waits_order_and_gpus() -> None:
    found = compared(*of([0.0, 0.0, 100.0, None], [10.0, 300.0, 100.0, 5.0]))
    assert found is not None
    assert (found.jobs, found.of, round(found.off, 2), round(found.mean_wait)) == (3, 4, 103.33, 33)
    # The second starts at 60 s, and here at 360, after the third.
    assert (round(found.in_order, 3), found.most_gpus, found.replayed_most_gpus) == (0.667, 3, 3)
    said = sentence(found)
    assert "NOT reproduced, and no advice is given: only 67% of the pairs" in said
    assert "1 of 4 jobs did not start here" in said
    assert compared(*of([None], [1.0])) is None


@pytest.mark.parametrize(
    ("then", "replayed", "why"),
    [
        ([0.0] * 20, [290.0] * 20, []),
        ([0.0] * 20, [310.0] * 20, ["the wait of a job differs by 5 min 10 s on average"]),
        ([4000.0] * 20, [4900.0] * 20, []),
        ([4000.0] * 20, [5100.0] * 20, ["the wait of a job differs by 18 min 20 s on average"]),
        ([0.0] * 20, [*[0.0] * 18, None, None], ["2 of 20 jobs did not start here, or nobody knows when they did"]),
    ],
)
def test_above_a_stated_error_no_advice_is_given(then: Any, replayed: Any, why: list[str]) -> None:
    found = compared(*of(then, replayed))
    assert found is not None
    assert list(objections(found)) == why


def test_a_week_is_replayed_on_the_objects_of_its_cluster(
    binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert binary.exists()

    def run(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["slipway", *words])
        code = main()
        captured = capsys.readouterr()
        assert code == 0, captured.err
        return captured.out

    monkeypatch.chdir(tmp_path)
    for name, late in (("true", 0.0), ("other", 7200.0)):
        Path(f"{name}.json").write_text(json.dumps(list(cluster(late))), encoding="utf-8")
        run("import", f"{name}.json", "--out", name)
        said = " ".join(run("replay", "--from", name).split())
        first = said.partition(" order;")[0]
        assert first.startswith("Beside what happened: waits differ by")
        assert ("this week is reproduced" in said) == (not late), said
        found = json.loads(run("replay", "--from", name, "--json"))
        assert (found["happened"]["jobs"], found["happened"]["of"], found["jobs"]["finished"]) == (12, 12, 12)
        assert found["happened"]["mostGpus"] == 8
        assert found["teams"][0]["name"] == "vision/main"
    run("replay", "--from", "true", "--out", "out")
    said = run("statement", "--from", "true", "--replay", "out/replay.json")
    assert "vision" in said
    assert "So this week is reproduced" in Path("out/index.html").read_text(encoding="utf-8")


def cluster(late: float) -> Any:
    """Two nodes with four GPUs each, and jobs that took all of them, one after the other; the last one still runs."""
    for number in range(2):
        labels = {"node.kubernetes.io/instance-type": "g6.12xlarge", "eks.amazonaws.com/nodegroup": "gpu"}
        zone = {"topology.kubernetes.io/region": "us-east-1", "topology.kubernetes.io/zone": "us-east-1a"}
        status = {"capacity": {"nvidia.com/gpu": "4"}}
        yield {"apiVersion": "v1", **named("Node", f"gpu-{number}", labels=labels | zone), "status": status}
    yield {"apiVersion": "v1", **named("Namespace", "vision")}
    yield {"apiVersion": KUEUE, **named("ResourceFlavor", "gpu"), "spec": {"nodeLabels": {}}}
    resources = [{"name": "nvidia.com/gpu", "nominalQuota": "8"}, {"name": "cpu", "nominalQuota": "90"}]
    resources.append({"name": "memory", "nominalQuota": "300Gi"})
    group = {
        "coveredResources": [one["name"] for one in resources],
        "flavors": [{"name": "gpu", "resources": resources}],
    }
    yield {
        "apiVersion": KUEUE,
        **named("ClusterQueue", "all"),
        "spec": {"namespaceSelector": {}, "resourceGroups": [group]},
    }
    for name in ("main", "spare"):
        yield {"apiVersion": KUEUE, **named("LocalQueue", name, "vision"), "spec": {"clusterQueue": "all"}}
    requests = {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "4"}
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]}}
    for number in range(12):
        start = EACH * number + late * (number % 3)
        times = [("Admitted", start), ("Finished", start + EACH)][: 1 if number == 11 else 2]
        conditions = [{"type": kind, "status": "True", "lastTransitionTime": at(when)} for kind, when in times]
        spec = {"queueName": "main", "podSets": [{"name": "main", "count": 2, "template": template}]}
        metadata = named("Workload", f"w{number:02}", "vision", created=at(10.0 * number))
        yield {"apiVersion": KUEUE, **metadata, "spec": spec, "status": {"conditions": conditions}}
    yield {"apiVersion": KUEUE, **named("Workload", "waits", "vision"), "spec": {"queueName": "main", "podSets": []}}


def named(kind: str, name: str, space: str | None = None, labels: Any = None, created: str | None = None) -> Any:
    return {
        "kind": kind,
        "metadata": {"name": name, "namespace": space, "labels": labels or {}, "creationTimestamp": created or at(0)},
    }


def at(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

"""Queries of autoscalers, evaluated by Prometheus' own code, and what Kubernetes' own controller makes of them."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.workloads.serving.scaling import Autoscaling, Scaled, queries, scaled_object
from sandbox.toolchain.obtain import ensure
from tests.e2e.workloads.load import autoscaler
from tests.support import promtool
from tests.support.patience import SECONDS

MINE = "chat-7d4b9c6f5-x2x9z"
SECOND = "chat-7d4b9c6f5-k8k4w"


@dataclass(frozen=True)
class Case:
    """Series at one moment, and the result of a query."""

    query: str  # name of the query
    series: dict[str, tuple[float, ...]]  # values by pod, GPU by GPU
    result: float | None  # its result, which the autoscaler divides by the number of pods; None if there is none
    mig: bool = False  # whether the pods have MIG instances
    namespace: str = "research"  # namespace of the pods


CASES = {
    "eight GPUs at 9 percent each are 9 percent": Case("gpu", {MINE: (9,) * 8}, 9),
    "a pod counts once, however many GPUs it has": Case("gpu", {MINE: (80,) * 8, SECOND: (60,) * 8}, 140),
    "one busy GPU of two is half of a pod": Case("gpu", {MINE: (100, 0)}, 50),
    "MIG instances are measured from 0 to 1": Case("gpu", {MINE: (0.7,), SECOND: (0.5,)}, 120, mig=True),
    "requests of all pods are waiting": Case("waiting", {MINE: (3,), SECOND: (4,)}, 7),
    "another Deployment whose name begins alike": Case("gpu", {MINE: (50,), "chat-v2-5c9d8b7f6-q9w8z": (90,)}, 50),
    "pods of another namespace": Case("waiting", {MINE: (5,)}, None, namespace="other"),
}
METRICS = {
    ("gpu", False): "DCGM_FI_DEV_GPU_UTIL",
    ("gpu", True): "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    ("waiting", False): "vllm:num_requests_waiting",
}


def rule_test(case: Case) -> dict[str, Any]:
    scaled = Scaled(namespace="research", deployment="chat", mig=case.mig)
    query, _ = queries(Autoscaling(), scaled)[case.query]
    metric = METRICS[case.query, case.mig]
    series = [
        {"series": f'{metric}{{namespace="{case.namespace}",pod="{pod}",gpu="{gpu}"}}', "values": f"{value}x2"}
        for pod, values in case.series.items()
        for gpu, value in enumerate(values)
    ]
    expected = [] if case.result is None else [{"labels": "{}", "value": case.result}]
    test = {"expr": query, "eval_time": "1m", "exp_samples": expected}
    return {"rule_files": [], "tests": [{"interval": "1m", "input_series": series, "promql_expr_test": [test]}]}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_query_is_a_sum_of_one_value_per_pod(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "test.yaml"
    file.write_text(yaml.safe_dump(rule_test(case)))
    found = promtool.run("test", "rules", str(file))
    assert found.returncode == 0, found.stdout + found.stderr


def replicas(load: list[tuple[int, int]], seconds: int) -> list[tuple[int, int]]:
    """Second and number of pods of each decision, by the controller of kube-controller-manager in virtual time.

    Args:
        load: From which second on so many requests wait, in all pods together.
        seconds: How long.
    """
    spec = scaled_object(
        Autoscaling(gpu_percent=None, waiting=10), Scaled(namespace="research", deployment="chat", mig=False)
    )
    scaled = {"metadata": {"name": "chat", "namespace": "research", "uid": "u1"}, "spec": spec}
    asked = {"autoscaler": autoscaler(scaled), "load": load, "seconds": seconds}
    found = subprocess.run(
        [ensure("hpa")], input=json.dumps(asked), capture_output=True, text=True, check=True, timeout=SECONDS
    )
    return [(second, count) for second, count in json.loads(found.stdout)]


def test_two_pods_come_every_30_seconds_and_one_goes_every_120_after_300() -> None:
    """Kubernetes evaluates every 15 s; the last high value was seen at 885 s."""
    up = [(60 + 30 * step, 4 + 2 * step) for step in range(9)]
    down = [(885 + 300 + 120 * step, 19 - step) for step in range(18)]
    assert replicas([(0, 0), (60, 400), (900, 20)], 4000) == [(0, 2), *up, *down]


def test_the_number_of_pods_is_the_waiting_requests_by_ten() -> None:
    assert replicas([(0, 20), (60, 75)], 1000) == [(0, 2), (60, 4), (90, 6), (120, 8)]


def test_a_short_pause_removes_no_pod() -> None:
    assert replicas([(0, 80), (600, 0), (840, 80)], 2000)[-1] == (75, 8)

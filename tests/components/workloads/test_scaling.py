"""Queries of autoscalers, evaluated by Prometheus' own code."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.workloads.serving.scaling import Autoscaling, Scaled, queries
from tests.support import promtool

MINE = "chat-7d4b9c6f5-x2x9z"
SECOND = "chat-7d4b9c6f5-k8k4w"


@dataclass(frozen=True)
class Case:
    """Series at one moment, and the result of a query.

    Attributes:
        query: Name of the query.
        series: Values by pod, GPU by GPU.
        result: Its result, which the autoscaler divides by the number of pods; None if there is none.
        mig: Whether the pods have MIG instances.
        namespace: Namespace of the pods.
    """

    query: str
    series: dict[str, tuple[float, ...]]
    result: float | None
    mig: bool = False
    namespace: str = "research"


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

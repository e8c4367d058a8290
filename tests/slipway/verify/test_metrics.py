"""What `slipway verify` asks Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from slipway.sandbox.kubernetes.errors import ApiError
from slipway.verify.checks import Status
from slipway.verify.metrics import of_metrics
from tests.slipway.verify.cluster import Cluster
from tests.support.stacks import platform_of

PROD = platform_of("prod")
TEAMS, COST = "the namespaces of all teams have their team", "the nodes of pools that always have some have a cost"
TEAM_COST = "the teams have a cost"
GPUS = "metrics of GPUs arrive"


def statuses(series: Mapping[str, list[str]]) -> dict[str, tuple[Status, str]]:
    cluster = Cluster(lambda _cluster, _job: None)
    cluster.series = series
    return {one.what: (one.status, one.detail) for one in of_metrics(cluster.get_path, PROD, simulated=False)}


def test_a_stack_whose_metrics_arrive_passes() -> None:
    assert statuses({}) == dict.fromkeys((TEAMS, TEAM_COST, COST, GPUS), (Status.PASSED, ""))


@pytest.mark.parametrize(
    ("series", "what", "detail"),
    [
        ({"namespace_team": ["vision-training", "language-serving", "language-training"]}, TEAMS, "vision-serving"),
        ({"node:usd_per_hour": ["system", "h100"]}, COST, "none for a100"),
        ({"team:usd_per_hour": ["vision"]}, TEAM_COST, "none for language"),
        ({"DCGM": []}, GPUS, "no series of count by (Hostname)"),
    ],
)
def test_what_does_not_arrive_is_reported(series: Mapping[str, list[str]], what: str, detail: str) -> None:
    found = statuses(series)
    assert found[what][0] is Status.FAILED
    assert detail in found[what][1]
    assert [one for one, _ in found.values()].count(Status.FAILED) == 1


def test_a_prometheus_that_does_not_answer_is_reported() -> None:
    def refuse(_path: str) -> Any:
        raise ApiError(503, {"message": "no endpoints available for service"})

    found = list(of_metrics(refuse, PROD, simulated=False))
    assert {one.status for one in found} == {Status.FAILED}
    assert all("no endpoints available" in one.detail for one in found)


def test_the_sandbox_says_that_metrics_need_aws_and_asks_nothing() -> None:
    def never(_path: str) -> Any:
        raise AssertionError

    assert {one.status for one in of_metrics(never, PROD, simulated=True)} == {Status.NEEDS_AWS}

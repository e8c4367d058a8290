"""Gauges of a controller with several replicas are counted once, in every expression: alerts, records, dashboards.

Each replica of such a controller exports its own copy of a gauge, and a sum over the copies is a multiple of the truth.
Counters and histograms may be summed: only the replica that does the work increments them.
"""

from collections.abc import Iterator
from typing import Final, Literal

import pytest

from components.observability.dashboards import DASHBOARDS
from policies.checks.promql import counted_twice
from spec.catalog.metrics import replicated_gauges
from tests.components.observability.samples import groups
from tests.components.observability.test_dashboards import FOREIGN, plain, queries

Kind = Literal["counter", "gauge", "histogram"]

REPLICATED: Final = ("certmanager_", "karpenter_", "keda_", "kueue_", "lws_", "mlflow_")
"""Prefixes of the metrics of controllers that run several replicas. Others have one source for each series: the kubelet
and the exporters of a node, a pod's own process, and kube-state-metrics, of which the chart runs one."""

KINDS: Final[dict[str, Kind]] = {
    # kueue v0.19, site/content/en/docs/reference/metrics.md
    "kueue_admission_wait_time_seconds_bucket": "histogram",
    "kueue_admitted_active_workloads": "gauge",
    "kueue_admitted_workloads_total": "counter",
    "kueue_cluster_queue_nominal_quota": "gauge",
    "kueue_cluster_queue_resource_usage": "gauge",
    "kueue_evicted_workloads_total": "counter",
    "kueue_pending_workloads": "gauge",
    # cert-manager v1.21, pkg/metrics/metrics.go; karpenter v1.14, website/content/en/docs/reference/metrics.md
    "certmanager_certificate_expiration_timestamp_seconds": "gauge",
    "karpenter_interruption_received_messages_total": "counter",
}


def _expressions() -> Iterator[tuple[str, str]]:
    for group in groups():
        for rule in group["rules"]:
            yield str(rule.get("alert") or rule.get("record")), rule["expr"]
    for dashboard in DASHBOARDS:
        for title, expression in queries(dashboard):
            yield f"{dashboard.uid}: {title}", plain(expression)


def test_every_metric_of_a_replicated_controller_has_a_kind() -> None:
    assert {name for name in FOREIGN if name.startswith(REPLICATED)} == set(KINDS)


def test_the_catalog_has_every_gauge_of_a_replicated_controller_and_nothing_else() -> None:
    assert {name: name in replicated_gauges() for name in KINDS} == {
        name: kind == "gauge" for name, kind in KINDS.items()
    }


@pytest.mark.parametrize(("where", "expression"), list(_expressions()), ids=lambda value: str(value)[:40])
def test_a_gauge_of_a_replicated_controller_is_counted_once(where: str, expression: str) -> None:
    assert not counted_twice(expression), where


@pytest.mark.parametrize(
    "expression",
    [
        "sum by (cluster_queue) (kueue_pending_workloads)",
        "kueue_pending_workloads > 0",
        'count(kueue_pending_workloads{status="active"})',
        "sum(max_over_time(kueue_pending_workloads[5m]))",
        "sum by (cluster_queue) (kueue_cluster_queue_resource_usage) / 8",
        "rate(kueue_evicted_workloads_total[5m]) * on (cluster_queue) kueue_admitted_active_workloads",
    ],
)
def test_a_gauge_that_is_counted_once_for_each_replica_is_found(expression: str) -> None:
    assert counted_twice(expression)


@pytest.mark.parametrize(
    "expression",
    [
        'sum by (cluster_queue) (kueue_pending_workloads{replica_role!="follower"})',
        "max by (cluster_queue, status) (kueue_pending_workloads)",
        "min by (name) (certmanager_certificate_expiration_timestamp_seconds) - time()",
        "sum(increase(kueue_admitted_workloads_total[30m]))",
        "sum by (node) (kube_node_status_allocatable)",
    ],
)
def test_what_counts_once_is_accepted(expression: str) -> None:
    assert not counted_twice(expression)

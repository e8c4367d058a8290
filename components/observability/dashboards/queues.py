"""Queue dashboard: pending workloads, waiting times, quotas."""

from __future__ import annotations

from components.observability.dashboards.panels import Dashboard, Panel, Query, Variable
from components.observability.promql import by_leader

_CHOSEN = 'cluster_queue=~"$queue"'


def _wait(quantile: float) -> Query:
    rate = f"rate(kueue_admission_wait_time_seconds_bucket{{{_CHOSEN}}}[1h])"
    return Query(
        expression=f"histogram_quantile({quantile}, sum by (cluster_queue, le) ({rate}))",
        legend=f"{{{{cluster_queue}}}} p{quantile * 100:.0f}",
    )


def _by_resource(gauge: str) -> str:
    return f"sum by (cluster_queue, resource) ({by_leader(gauge, _CHOSEN)})"


QUEUES = Dashboard(
    uid="slipway-queues",
    title="Queues",
    about="How many workloads are pending, for how long, and for which quota. A queue has the name of its team.",
    variables=(Variable(name="queue", series="kueue_pending_workloads", label="cluster_queue"),),
    panels=(
        Panel(
            title="Pending",
            queries=[
                Query(
                    expression=f"sum by (cluster_queue, status) ({by_leader('kueue_pending_workloads', _CHOSEN)})",
                    legend="{{cluster_queue}} {{status}}",
                )
            ],
            stacked=True,
            about="`inadmissible` workloads wait for a change: quota, a full pool, a selector that fits no pool.",
        ),
        Panel(
            title="Admitted and running",
            queries=[
                Query(
                    expression=f"sum by (cluster_queue) ({by_leader('kueue_admitted_active_workloads', _CHOSEN)})",
                    legend="{{cluster_queue}}",
                )
            ],
            stacked=True,
        ),
        Panel(title="Wait until admission", queries=[_wait(0.5), _wait(0.95)], unit="s"),
        Panel(
            title="Evicted per hour",
            queries=[
                Query(
                    expression="sum by (cluster_queue, reason)"
                    f" (increase(kueue_evicted_workloads_total{{{_CHOSEN}}}[1h]))",
                    legend="{{cluster_queue}} {{reason}}",
                )
            ],
        ),
        Panel(
            title="Quota in use",
            queries=[
                Query(
                    expression=f"{_by_resource('kueue_cluster_queue_resource_usage')} / on (cluster_queue, resource)"
                    f" ({_by_resource('kueue_cluster_queue_nominal_quota')} > 0)",
                    legend="{{cluster_queue}} {{resource}}",
                )
            ],
            unit="percentunit",
            about="Usage over 100 % is borrowed from other queues of the cohort.",
        ),
        Panel(
            title="Pods that do not start",
            queries=[
                Query(
                    expression='sum by (namespace) (kube_pod_status_phase{phase="Pending"} == 1)',
                    legend="{{namespace}}",
                )
            ],
            stacked=True,
        ),
    ),
)

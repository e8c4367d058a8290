"""Dashboards of GPUs (allocation and utilization), queues (pending workloads, waiting times, quotas) and right-sizing
(requests compared with usage, and recommended requests).

The recommendation is the 95th percentile of CPU and the maximum of memory over the selected time range, plus 15 %, the
margin of the Vertical Pod Autoscaler's recommender (kubernetes/autoscaler, vertical-pod-autoscaler, flag
--recommendation-margin-fraction, 0.15). docs/adr/0027 explains why it is computed here.
"""

from __future__ import annotations

from components.observability.dashboards.panels import Dashboard, Panel, Query, Variable, share, stat, table
from components.observability.promql import NAMESPACE_TEAM, NODE, POD_JOB, by_leader, of_team
from components.observability.recording import CPU_CORES, EFA_RATIO, GPU_ACTIVE, GPU_MEMORY, GPU_RESOURCES, GPU_XID

_CHOSEN = 'team=~"$team"'


def _chosen(series: str) -> str:
    """Series of the pods of the selected teams, with their team."""
    return f"{series} * on (namespace) group_left (team) {NAMESPACE_TEAM}{{{_CHOSEN}}}"


def _by_job(series: str) -> str:
    return f"({_chosen(series)}) * on (namespace, pod) group_left (workload) {POD_JOB}"


GPUS = Dashboard(
    uid="slipway-gpus",
    title="GPUs",
    about="Which GPUs are allocated, to which teams, and their utilization.",
    variables=(Variable(name="team", series=NAMESPACE_TEAM, label="team"),),
    panels=(
        stat(
            "Allocatable GPUs",
            [Query(f"sum(kube_node_status_allocatable{{{GPU_RESOURCES}}})", "offered")],
            about="Whole GPUs, MIG instances and shares, each counted as one.",
        ),
        stat("GPUs allocated to teams", [Query("sum(slipway:team:gpus_held)", "held")]),
        stat(
            "Utilization while allocated",
            [Query("sum(slipway:team:gpus_active) / sum(slipway:team:gpus_held)", "busy")],
            unit="percentunit",
            about="Share of time in which allocated GPUs compute (DCGM_FI_PROF_GR_ENGINE_ACTIVE).",
        ),
        stat("GPUs with an Xid", [Query(f"count({GPU_XID} > 0) or vector(0)", "errors")], about="Runbook: gpu-errors."),
        share("Utilization by team", [Query(f"avg by (team) ({_chosen(GPU_ACTIVE)})", "{{team}}")]),
        share(
            "Utilization by pool",
            [Query(f"avg by (pool) ({GPU_ACTIVE} * on (node) group_left (pool) {NODE})", "{{pool}}")],
        ),
        share(
            "Utilization by job", [Query(f"avg by (team, workload) ({_by_job(GPU_ACTIVE)})", "{{team}} / {{workload}}")]
        ),
        Panel("GPUs allocated by team", [Query(f"slipway:team:gpus_held{{{_CHOSEN}}}", "{{team}}")], stacked=True),
        share(
            "GPU memory by job",
            [Query(f"max by (team, workload) ({_by_job(GPU_MEMORY)})", "{{team}} / {{workload}}")],
            about="The GPU with the highest memory usage of each job.",
        ),
        share(
            "Network of EFA nodes",
            [Query(EFA_RATIO, "{{node}}")],
            about="Bytes received, as a share of the instance type's bandwidth.",
        ),
        table(
            "Idle GPUs now",
            [Query(f"topk(50, 1 - {of_team(f'avg_over_time({GPU_ACTIVE}[30m])')} > 0.9)")],
            unit="percentunit",
            width=24,
            columns=("team", "namespace", "pod", "node"),
            about="Share of the last half hour in which an allocated GPU was idle. Runbook: gpu-idle.",
        ),
    ),
)


_QUEUE = 'cluster_queue=~"$queue"'


def _wait(quantile: float) -> Query:
    rate = f"rate(kueue_admission_wait_time_seconds_bucket{{{_QUEUE}}}[1h])"
    return Query(
        f"histogram_quantile({quantile}, sum by (cluster_queue, le) ({rate}))",
        f"{{{{cluster_queue}}}} p{quantile * 100:.0f}",
    )


def _by_resource(gauge: str) -> str:
    return f"sum by (cluster_queue, resource) ({by_leader(gauge, _QUEUE)})"


QUEUES = Dashboard(
    uid="slipway-queues",
    title="Queues",
    about="How many workloads are pending, for how long, and for which quota. A queue has the name of its team.",
    variables=(Variable(name="queue", series="kueue_pending_workloads", label="cluster_queue"),),
    panels=(
        Panel(
            "Pending",
            [
                Query(
                    f"sum by (cluster_queue, status) ({by_leader('kueue_pending_workloads', _QUEUE)})",
                    "{{cluster_queue}} {{status}}",
                )
            ],
            stacked=True,
            about="`inadmissible` workloads wait for a change: quota, a full pool, a selector that fits no pool.",
        ),
        Panel(
            "Admitted and running",
            [
                Query(
                    f"sum by (cluster_queue) ({by_leader('kueue_admitted_active_workloads', _QUEUE)})",
                    "{{cluster_queue}}",
                )
            ],
            stacked=True,
        ),
        Panel("Wait until admission", [_wait(0.5), _wait(0.95)], unit="s"),
        Panel(
            "Evicted per hour",
            [
                Query(
                    f"sum by (cluster_queue, reason) (increase(kueue_evicted_workloads_total{{{_QUEUE}}}[1h]))",
                    "{{cluster_queue}} {{reason}}",
                )
            ],
        ),
        Panel(
            "Quota in use",
            [
                Query(
                    f"{_by_resource('kueue_cluster_queue_resource_usage')} / on (cluster_queue, resource)"
                    f" ({_by_resource('kueue_cluster_queue_nominal_quota')} > 0)",
                    "{{cluster_queue}} {{resource}}",
                )
            ],
            unit="percentunit",
            about="Usage over 100 % is borrowed from other queues of the cohort.",
        ),
        Panel(
            "Pods that do not start",
            [Query('sum by (namespace) (kube_pod_status_phase{phase="Pending"} == 1)', "{{namespace}}")],
            stacked=True,
        ),
    ),
)


MARGIN = 1.15
_KEYS = "namespace, pod, container"
_BY = "team, namespace, container"


def _teams(expression: str) -> str:
    return f"({expression}) * on (namespace) group_left (team) {NAMESPACE_TEAM}{{{_CHOSEN}}}"


def _requested(resource: str) -> str:
    requested = f'sum by ({_KEYS}) (kube_pod_container_resource_requests{{resource="{resource}"}})'
    return f'{requested} and on (namespace, pod) (kube_pod_status_phase{{phase="Running"}} == 1)'


_MEMORY = 'container_memory_working_set_bytes{container!="", image!=""}'
_CPU_ADVICE = f"quantile_over_time(0.95, {CPU_CORES}[$__range]) * {MARGIN}"
_MEMORY_ADVICE = f"max by ({_KEYS}) (max_over_time({_MEMORY}[$__range])) * {MARGIN}"


def _ratio(used: str, resource: str) -> Query:
    requested = f"sum by (team) ({_teams(_requested(resource))})"
    return Query(f"sum by (team) ({_teams(used)}) / {requested}", "{{team}}")


def _unused(advice: str, resource: str) -> Query:
    spare = f"({_requested(resource)}) - on ({_KEYS}) ({advice})"
    return Query(f"topk(50, max by ({_BY}) ({_teams(spare)}) > 0)")


def _advice(advice: str) -> Query:
    return Query(f"topk(100, max by ({_BY}) ({_teams(advice)}))")


SIZING = Dashboard(
    uid="slipway-sizing",
    title="Right-sizing",
    about="Requests and usage of teams. Select a time range of a week or more for reliable recommendations.",
    variables=(Variable(name="team", series=NAMESPACE_TEAM, label="team"),),
    since="now-7d",
    panels=(
        Panel("CPU usage of requests", [_ratio(CPU_CORES, "cpu")], unit="percentunit"),
        Panel("Memory usage of requests", [_ratio(f"sum by ({_KEYS}) ({_MEMORY})", "memory")], unit="percentunit"),
        Panel(
            "Utilization of allocated GPUs",
            [Query(f"slipway:team:gpus_active{{{_CHOSEN}}} / slipway:team:gpus_held{{{_CHOSEN}}}", "{{team}}")],
            unit="percentunit",
            width=24,
            about="A job that never uses more than half of a GPU may fit on a MIG instance.",
        ),
        table("Unused CPU requests", [_unused(_CPU_ADVICE, "cpu")], unit="cores", columns=_BY.split(", ")),
        table("Unused memory requests", [_unused(_MEMORY_ADVICE, "memory")], unit="bytes", columns=_BY.split(", ")),
        table("Recommended CPU request", [_advice(_CPU_ADVICE)], unit="cores", columns=_BY.split(", ")),
        table("Recommended memory request", [_advice(_MEMORY_ADVICE)], unit="bytes", columns=_BY.split(", ")),
        Panel(
            "Containers without a CPU request",
            [
                Query(
                    "count by (team) ("
                    + of_team(f'{CPU_CORES} unless on ({_KEYS}) kube_pod_container_resource_requests{{resource="cpu"}}')
                    + ")",
                    "{{team}}",
                )
            ],
            width=24,
        ),
    ),
)

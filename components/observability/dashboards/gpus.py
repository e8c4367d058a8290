"""GPU dashboard: allocation and utilization."""

from __future__ import annotations

from components.observability.dashboards.panels import Dashboard, Panel, Query, Variable
from components.observability.promql import NAMESPACE_TEAM, NODE, POD_JOB, of_team
from components.observability.recording import EFA_RATIO, GPU_ACTIVE, GPU_MEMORY, GPU_RESOURCES, GPU_XID

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
        Panel(
            title="Allocatable GPUs",
            queries=[Query(expression=f"sum(kube_node_status_allocatable{{{GPU_RESOURCES}}})", legend="offered")],
            kind="stat",
            width=6,
            about="Whole GPUs, MIG instances and shares, each counted as one.",
        ),
        Panel(
            title="GPUs allocated to teams",
            queries=[Query(expression="sum(slipway:team:gpus_held)", legend="held")],
            kind="stat",
            width=6,
        ),
        Panel(
            title="Utilization while allocated",
            queries=[Query(expression="sum(slipway:team:gpus_active) / sum(slipway:team:gpus_held)", legend="busy")],
            kind="stat",
            unit="percentunit",
            width=6,
            about="Share of time in which allocated GPUs compute (DCGM_FI_PROF_GR_ENGINE_ACTIVE).",
        ),
        Panel(
            title="GPUs with an Xid",
            queries=[Query(expression=f"count({GPU_XID} > 0) or vector(0)", legend="errors")],
            kind="stat",
            width=6,
            about="Runbook: gpu-errors.",
        ),
        Panel(
            title="Utilization by team",
            queries=[Query(expression=f"avg by (team) ({_chosen(GPU_ACTIVE)})", legend="{{team}}")],
            unit="percentunit",
            maximum=1,
        ),
        Panel(
            title="Utilization by pool",
            queries=[
                Query(
                    expression=f"avg by (pool) ({GPU_ACTIVE} * on (node) group_left (pool) {NODE})", legend="{{pool}}"
                )
            ],
            unit="percentunit",
            maximum=1,
        ),
        Panel(
            title="Utilization by job",
            queries=[
                Query(expression=f"avg by (team, workload) ({_by_job(GPU_ACTIVE)})", legend="{{team}} / {{workload}}")
            ],
            unit="percentunit",
            maximum=1,
        ),
        Panel(
            title="GPUs allocated by team",
            queries=[Query(expression=f"slipway:team:gpus_held{{{_CHOSEN}}}", legend="{{team}}")],
            stacked=True,
        ),
        Panel(
            title="GPU memory by job",
            queries=[
                Query(expression=f"max by (team, workload) ({_by_job(GPU_MEMORY)})", legend="{{team}} / {{workload}}")
            ],
            unit="percentunit",
            maximum=1,
            about="The GPU with the highest memory usage of each job.",
        ),
        Panel(
            title="Network of EFA nodes",
            queries=[Query(expression=EFA_RATIO, legend="{{node}}")],
            unit="percentunit",
            maximum=1,
            about="Bytes received, as a share of the instance type's bandwidth.",
        ),
        Panel(
            title="Idle GPUs now",
            queries=[
                Query(expression=f"topk(50, 1 - {of_team(f'avg_over_time({GPU_ACTIVE}[30m])')} > 0.9)", legend="")
            ],
            kind="table",
            unit="percentunit",
            width=24,
            columns=("team", "namespace", "pod", "node"),
            about="Share of the last half hour in which an allocated GPU was idle. Runbook: gpu-idle.",
        ),
    ),
)

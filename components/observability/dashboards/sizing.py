"""Right-sizing dashboard: requests compared with usage, and recommended requests.

The recommendation is the 95th percentile of CPU and the maximum of memory over the selected time range, plus 15 %, the
margin of the Vertical Pod Autoscaler's recommender (kubernetes/autoscaler, vertical-pod-autoscaler, flag
--recommendation-margin-fraction, 0.15). docs/adr/0027 explains why it is computed here.
"""

from __future__ import annotations

from components.observability.dashboards.panels import Dashboard, Panel, Query, Variable
from components.observability.promql import NAMESPACE_TEAM, of_team
from components.observability.recording import CPU_CORES

MARGIN = 1.15
_CHOSEN = 'team=~"$team"'
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
    return Query(expression=f"sum by (team) ({_teams(used)}) / {requested}", legend="{{team}}")


def _unused(advice: str, resource: str) -> Query:
    spare = f"({_requested(resource)}) - on ({_KEYS}) ({advice})"
    return Query(expression=f"topk(50, max by ({_BY}) ({_teams(spare)}) > 0)", legend="")


def _advice(advice: str) -> Query:
    return Query(expression=f"topk(100, max by ({_BY}) ({_teams(advice)}))", legend="")


SIZING = Dashboard(
    uid="slipway-sizing",
    title="Right-sizing",
    about="Requests and usage of teams. Select a time range of a week or more for reliable recommendations.",
    variables=(Variable(name="team", series=NAMESPACE_TEAM, label="team"),),
    since="now-7d",
    panels=(
        Panel(title="CPU usage of requests", queries=[_ratio(CPU_CORES, "cpu")], unit="percentunit"),
        Panel(
            title="Memory usage of requests",
            queries=[_ratio(f"sum by ({_KEYS}) ({_MEMORY})", "memory")],
            unit="percentunit",
        ),
        Panel(
            title="Utilization of allocated GPUs",
            queries=[
                Query(
                    expression=f"slipway:team:gpus_active{{{_CHOSEN}}} / slipway:team:gpus_held{{{_CHOSEN}}}",
                    legend="{{team}}",
                )
            ],
            unit="percentunit",
            width=24,
            about="A job that never uses more than half of a GPU may fit on a MIG instance.",
        ),
        Panel(
            title="Unused CPU requests",
            queries=[_unused(_CPU_ADVICE, "cpu")],
            kind="table",
            unit="cores",
            columns=_BY.split(", "),
        ),
        Panel(
            title="Unused memory requests",
            queries=[_unused(_MEMORY_ADVICE, "memory")],
            kind="table",
            unit="bytes",
            columns=_BY.split(", "),
        ),
        Panel(
            title="Recommended CPU request",
            queries=[_advice(_CPU_ADVICE)],
            kind="table",
            unit="cores",
            columns=_BY.split(", "),
        ),
        Panel(
            title="Recommended memory request",
            queries=[_advice(_MEMORY_ADVICE)],
            kind="table",
            unit="bytes",
            columns=_BY.split(", "),
        ),
        Panel(
            title="Containers without a CPU request",
            queries=[
                Query(
                    expression="count by (team) ("
                    + of_team(f'{CPU_CORES} unless on ({_KEYS}) kube_pod_container_resource_requests{{resource="cpu"}}')
                    + ")",
                    legend="{{team}}",
                )
            ],
            width=24,
        ),
    ),
)

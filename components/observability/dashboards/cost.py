"""Cost by team, by pool and by job, against the teams' budgets."""

from __future__ import annotations

from components.observability.dashboards.panels import Dashboard, Panel, Query, Variable, stat, table
from components.observability.promql import NAMESPACE_TEAM, POD_JOB
from components.observability.recording import NODE_COST, POD_COST, TEAM_BUDGET, TEAM_COST
from spec.catalog import prices

_HOURS = prices.HOURS_PER_MONTH
_CHOSEN = 'team=~"$team"'

COST = Dashboard(
    uid="slipway-cost",
    title="Cost",
    about="Cost of nodes by team, pool and job. Prices are OpenCost's if it is enabled, otherwise on-demand prices of"
    " the catalog; discounts, commitments and costs other than nodes appear only on the AWS bill.",
    variables=(Variable(name="team", series=NAMESPACE_TEAM, label="team"),),
    since="now-7d",
    panels=(
        stat(
            "All nodes, per month at the current rate",
            [Query(f"sum({NODE_COST}) * {_HOURS}", "nodes")],
            unit="currencyUSD",
        ),
        stat(
            "Idle share of cost",
            [Query(f"1 - sum({POD_COST}) / sum({NODE_COST})", "idle")],
            unit="percentunit",
            about="Share of the nodes' cost that no pod requests.",
        ),
        stat(
            "Spot share of cost",
            [Query(f'(sum({NODE_COST}{{capacity_type="spot"}}) or vector(0)) / sum({NODE_COST})', "spot")],
            unit="percentunit",
        ),
        stat(
            "Nodes without a price",
            [Query(f"count(slipway:node:info unless on (node) {NODE_COST}) or vector(0)")],
            about="Their cost is missing on this dashboard, but not on the AWS bill.",
        ),
        Panel(
            "By team",
            [Query(f"{TEAM_COST}{{{_CHOSEN}}} * {_HOURS}", "{{team}}")],
            unit="currencyUSD",
            stacked=True,
            about="USD per month at the current rate.",
        ),
        Panel(
            "By pool", [Query(f"sum by (pool) ({NODE_COST}) * {_HOURS}", "{{pool}}")], unit="currencyUSD", stacked=True
        ),
        Panel(
            "This week's rate against the budget",
            [Query(f"avg_over_time({TEAM_COST}{{{_CHOSEN}}}[7d]) * {_HOURS} / on (team) {TEAM_BUDGET}", "{{team}}")],
            kind="bargauge",
            unit="percentunit",
            about="Runbook: team-over-budget.",
        ),
        Panel(
            "By project",
            [Query(f"sum by (team, project) ({POD_COST}{{{_CHOSEN}}}) * {_HOURS}", "{{team}} / {{project}}")],
            unit="currencyUSD",
            stacked=True,
        ),
        table(
            "Jobs, USD in the selected time range",
            [
                Query(
                    # One sample a minute, so sixty of them are an hour.
                    expression=f"topk(50, sum by (team, workload) (sum_over_time({POD_COST}{{{_CHOSEN}}}[$__range])"
                    f" / 60 * on (namespace, pod) group_left (workload) last_over_time({POD_JOB}[$__range])))",
                )
            ],
            unit="currencyUSD",
            width=24,
            columns=("team", "workload"),
        ),
    ),
)

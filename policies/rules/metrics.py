"""Queries of alerts, recording rules and dashboards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.checks.promql import counted_twice
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import CONFIG_MAP, PROMETHEUS_RULE
from policies.rule import Check, Context, ResourceRule, Violation, violation

DASHBOARD: Final = "grafana_dashboard"
"""Label of a ConfigMap with dashboards (chart kube-prometheus-stack 88.5.3, grafana.sidecar.dashboards.label)."""


def _of_rules(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type != PROMETHEUS_RULE:
        return
    for group in resource["spec"]["groups"].items():
        for rule in group["rules"].items():
            yield from _twice(rule["expr"], rule["expr"].text())


def _of_dashboards(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type != CONFIG_MAP or not resource["metadata"]["labels"][DASHBOARD].known:
        return
    for node in resource["data"].fields().values():
        for expression in _expressions(node.text()):
            yield from _twice(node, expression)


def _expressions(text: str | None) -> Iterator[str]:
    """The queries of a dashboard, wherever its panels are."""
    try:
        waiting: list[Any] = [json.loads(text or "null")]
    except ValueError:
        return
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if isinstance(one.get("expr"), str):
                yield one["expr"]
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _twice(at: Node, expression: str | None) -> Iterator[Violation]:
    for gauge in sorted(counted_twice(expression or "")):
        yield violation(at, f"{gauge} in {expression}")


GAUGE_ONCE = ResourceRule(
    name="gauge-once",
    title="A gauge that each replica of a controller exports is counted once",
    types=(PROMETHEUS_RULE, CONFIG_MAP),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="Followers export a gauge as the leader does: with two replicas a sum is twice the value, and an alert "
    "fires too early or never (spec/catalog/data/metrics.yaml names the gauges and their source).",
    fix='Select the leader: replica_role!="follower"; where a gauge has no such label, aggregate with max first.',
    checks={
        "rule": Check(asks="must not add the copies of a gauge", find=_of_rules),
        "dashboard": Check(asks="must not add the copies of a gauge in its queries", find=_of_dashboards),
    },
)

RULES: Final = (GAUGE_ONCE,)

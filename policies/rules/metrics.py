"""Queries of alerts, recording rules and dashboards."""

import json
from collections.abc import Iterator
from typing import Any, Final

from policies.checks.promql import counted_twice
from policies.checks.related import releases_of
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import CONFIG_MAP, PROMETHEUS_RULE, RELEASE
from policies.rule import Context, ResourceRule, StackRule, Violation, violation

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
    types=(PROMETHEUS_RULE, CONFIG_MAP),
    finds={
        "rule": _of_rules,
        "dashboard": _of_dashboards,
    },
)


def _empty(stack: Stack, _: Context) -> Iterator[Violation]:
    for resource in stack.of(PROMETHEUS_RULE):
        groups = resource["spec"]["groups"]
        lists = [groups, *(group["rules"] for group in groups.items())]
        yield from (violation(one, at=resource) for one in lists if one.missing or one.raw == [])


def _silent(stack: Stack, _: Context) -> Iterator[Violation]:
    """The chart brings rules of its own, for the cluster; those for teams, GPUs and costs are the program's."""
    groups = [one["spec"]["groups"] for one in stack.of(PROMETHEUS_RULE)]
    rules = [group["rules"] for each in groups for group in each.items()]
    alerts = [rule["alert"] for each in rules for rule in each.items()]
    if not any(one.unknown for one in [*groups, *rules]) and all(alert.missing for alert in alerts):
        for release in releases_of(stack, "kube-prometheus-stack"):
            yield Violation(path="", got="without alerts of the platform", at=release)


ALERTS_KEPT = StackRule(
    name="alerts-kept",
    types=(PROMETHEUS_RULE, RELEASE),
    finds={"filled": _empty, "alerts": _silent},
)

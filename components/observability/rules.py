"""The rules of a platform as PrometheusRule objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from components.base.operator import object_of
from components.observability import recording
from components.observability.alerts import Alert, all_alerts
from components.observability.recording import Record
from spec.pools.pool_spec import PoolSpec
from spec.settings.addons.observability import Alerts

API: Final = "monitoring.coreos.com/v1"
INTERVAL: Final = "1m"  # evaluation interval of recording rules; costs and usage change slowly


def records(
    pools: Mapping[str, PoolSpec], *, opencost: bool, budgets: Mapping[str, int]
) -> dict[str, Sequence[Record]]:
    """Every recording rule, by rule group.

    Args:
        pools: Pools by name; prices and bandwidths of their instance types become series.
        opencost: Whether OpenCost provides the cost of nodes.
        budgets: Budgets of teams, in USD per month.
    """
    specs = tuple(pools.values())
    groups: dict[str, Sequence[Record]] = {
        "names": recording.names(),
        "gpus": [*recording.gpus(), *recording.gpus_of_teams()],
        "network": recording.network(specs),
        "use": recording.use(),
        "spend": [*recording.nodes(specs, opencost=opencost), *recording.pods(), *recording.budgets(budgets)],
    }
    return {name: group for name, group in groups.items() if group}


def groups_of_records(groups: Mapping[str, Sequence[Record]]) -> list[dict[str, Any]]:
    """Recording rules as groups of a rule file."""
    return [
        {"name": f"slipway-{name}", "interval": INTERVAL, "rules": [each.rule for each in group]}
        for name, group in groups.items()
    ]


def groups_of_alerts(groups: Mapping[str, Sequence[Alert]], runbooks: str | None) -> list[dict[str, Any]]:
    """Alerts as groups of a rule file."""
    return [
        {"name": f"slipway-{name}-alerts", "rules": [each.rule(runbooks) for each in group]}
        for name, group in groups.items()
    ]


def manifests(
    namespace: str, settings: Alerts, pools: Mapping[str, PoolSpec], *, opencost: bool, budgets: Mapping[str, int]
) -> dict[str, dict[str, Any]]:
    """PrometheusRule objects by key."""
    recorded = groups_of_records(records(pools, opencost=opencost, budgets=budgets))
    alerting = groups_of_alerts(all_alerts(settings), settings.runbooks)
    return {
        f"rules-{name}": object_of(API, "PrometheusRule", f"slipway-{name}", namespace, spec={"groups": groups})
        for name, groups in (("records", recorded), ("alerts", alerting))
    }

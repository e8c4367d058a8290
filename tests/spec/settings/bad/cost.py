"""Budgets, schedules and cost tools that must be refused."""

from __future__ import annotations

from typing import Any, Final

from tests.spec.settings.bad.row import Bad


def _nights(**more: Any) -> dict[str, Any]:
    return {"cost.schedules": {"nights": {"stop": "0 20 * * MON-FRI", "notebooks": True, **more}}}


def _pools(*names: str, **more: Any) -> dict[str, Any]:
    return _nights(notebooks=False, start="0 7 * * MON-FRI", pools=list(names), **more)


_PATH: Final = "cost.schedules.nights"
COST: Final = (
    Bad(
        62,
        "budget without recipient",
        {"cost.monthlyBudgetUsd": 100},
        "cost.monthlyBudgetUsd",
        "need a recipient",
        "notifications",
    ),
    Bad(
        62,
        "monitor without recipient",
        {"cost.anomalyUsd": 100, "cost.createAnomalyMonitor": True},
        "cost.anomalyUsd",
        "need a recipient",
        "notifications",
    ),
    Bad(62, "thresholds fall", {"cost.thresholds": [80, 50]}, "cost.thresholds", "above the one before", "[50, 80]"),
    Bad(62, "threshold twice", {"cost.thresholds": [50, 50]}, "cost.thresholds", "above the one before", "[50]"),
    Bad(62, "threshold 0", {"cost.thresholds": [50, 0]}, "cost.thresholds.1", "at least 1", "1 or more"),
    Bad(62, "no threshold", {"cost.thresholds": []}, "cost.thresholds", "at least 1", "Add"),
    Bad(62, "four fields of cron", _nights(stop="0 20 * *"), f"{_PATH}.stop", "has 5 fields", "five fields"),
    Bad(62, "hour 24", _nights(stop="0 24 * * *"), f"{_PATH}.stop", "hour must be from 0 to 23", "five fields"),
    Bad(62, "day that no week has", _nights(stop="0 20 * * MOO"), f"{_PATH}.stop", "day of week", "five fields"),
    Bad(62, "Sunday as 7", _nights(stop="0 20 * * 7"), f"{_PATH}.stop", "from 0 to 6", "five fields"),
    Bad(62, "range that falls", _nights(stop="0 20 * * FRI-MON"), f"{_PATH}.stop", "day of week", "five fields"),
    Bad(62, "step of nothing", _nights(stop="*/0 20 * * *"), f"{_PATH}.stop", "minute", "five fields"),
    Bad(62, "a name for cron", _nights(stop="@daily"), f"{_PATH}.stop", "has 5 fields", "five fields"),
    Bad(62, "no such time zone", _nights(timezone="Mars/Base"), f"{_PATH}.timezone", "must exist", "IANA"),
    Bad(62, "stops nothing", _nights(notebooks=False), _PATH, "must stop something", "Name pools"),
    Bad(62, "notebooks that start", _nights(start="0 7 * * *"), f"{_PATH}.start", "new sessions", "Remove"),
    Bad(62, "pools that never start again", _nights(pools=["h100"]), f"{_PATH}.start", "start again", "Add"),
    Bad(
        62,
        "stop and start at the same time",
        _pools("h100", stop="0 7 * * MON-FRI"),
        f"{_PATH}.start",
        "different times",
        "Change one",
    ),
    Bad(62, "unknown pool", _pools("h200"), f"{_PATH}.pools", "must exist", "h100"),
    Bad(62, "the system pool", _pools("system"), f"{_PATH}.pools", "never stops", "Remove"),
    Bad(62, "a Karpenter pool", _pools("l4"), f"{_PATH}.pools", "has no fixed size", "notebooks: true"),
    Bad(62, "a pool twice", _pools("h100", "h100"), f"{_PATH}.pools", "at most one schedule", "Remove"),
    Bad(
        62,
        "reserved machines",
        {
            **_pools("h100"),
            "pools.h100.capacity": {
                "market": "reserved",
                "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"},
            },
        },
        f"{_PATH}.pools",
        "are billed",
        "Remove",
    ),
    Bad(
        62,
        "two cost tools",
        {"addons.kubePrometheusStack": {}, "addons.opencost": {}, "addons.kubecost": {}},
        "addons.kubecost",
        "exclude each other",
        "Keep one",
    ),
    Bad(62, "OpenCost without Prometheus", {"addons.opencost": {}}, "addons.opencost", "needs", "kubePrometheusStack"),
    Bad(
        62,
        "no address",
        {"notifications": {"emails": ["nobody"]}},
        "notifications.emails.0",
        "one @",
        "ml-platform@example.com",
    ),
    Bad(
        62,
        "runbooks in clear text",
        {"addons.kubePrometheusStack": {"alerts": {"runbooks": "http://x.example"}}},
        "addons.kubePrometheusStack.alerts.runbooks",
        "begin with https",
        "whole URL",
    ),
    Bad(
        62,
        "a password instead of the name of a secret",
        {"addons.kubePrometheusStack": {"grafana": {"adminSecret": "Hunter2!"}}},
        "addons.kubePrometheusStack.grafana.adminSecret",
        "name of a Secret",
        "not its content",
    ),
    Bad(62, "tag with a space", {"cost.allocationTags": ["cost center"]}, "cost.allocationTags.0", "tag key", "spaces"),
    Bad(
        62,
        "anomaly detection that would create a second monitor",
        {"cost.anomalyUsd": 100, "notifications": {"emails": ["a@example.com"]}},
        "cost.anomalyMonitorArn",
        "needs the account's monitor",
        "createAnomalyMonitor: true",
    ),
    Bad(
        62,
        "an existing monitor and a new one",
        {
            "cost.anomalyMonitorArn": "arn:aws:ce::111122223333:anomalymonitor/01234567-89ab-cdef-0123-456789abcdef",
            "cost.createAnomalyMonitor": True,
        },
        "cost.createAnomalyMonitor",
        "the stack names it",
        "Remove this line",
    ),
    Bad(62, "monitor by name", {"cost.anomalyMonitorArn": "mine"}, "cost.anomalyMonitorArn", "monitor", "aws ce"),
    Bad(
        62,
        "clear text",
        {"notifications": {"https": ["http://x.example"]}},
        "notifications.https.0",
        "begin with https",
        "whole URL",
    ),
)

"""Dashboards of the platform, in ConfigMaps for Grafana's sidecar."""

from __future__ import annotations

from typing import Any, Final

from components.observability.dashboards.cost import COST
from components.observability.dashboards.panels import Dashboard
from components.observability.dashboards.serving import SERVING
from components.observability.dashboards.usage import GPUS, QUEUES, SIZING

DASHBOARDS: Final[tuple[Dashboard, ...]] = (COST, GPUS, QUEUES, SERVING, SIZING)
LABEL: Final = "grafana_dashboard"
"""Label that the sidecar selects (kube-prometheus-stack 88.5.3, grafana.sidecar.dashboards)."""


def manifests(namespace: str) -> dict[str, dict[str, Any]]:
    """A ConfigMap per dashboard, by key."""
    return {
        f"dashboard-{each.uid.removeprefix('slipway-')}": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"dashboard-{each.uid}", "namespace": namespace, "labels": {LABEL: "1"}},
            "data": {f"{each.uid}.json": each.render()},
        }
        for each in DASHBOARDS
    }

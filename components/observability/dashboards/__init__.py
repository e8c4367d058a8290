"""Dashboards of the platform, in ConfigMaps for Grafana's sidecar: each is a file beside this one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from components.observability.dashboards.panels import Dashboard, Panel, Query, Variable
from spec import strict_yaml

LABEL: Final = "grafana_dashboard"
"""Label that the sidecar selects (kube-prometheus-stack 88.5.3, grafana.sidecar.dashboards)."""


@cache
def dashboards() -> tuple[Dashboard, ...]:
    """All of them."""
    return tuple(_read(path) for path in sorted(Path(__file__).parent.glob("*.yaml")))


def _read(path: Path) -> Dashboard:
    given = strict_yaml.read(path.read_text(encoding="utf-8"))
    panels = [Panel(**{**one, "queries": [Query(**query) for query in one["queries"]]}) for one in given["panels"]]
    variables = [Variable(**one) for one in given["variables"]]
    return Dashboard(**{**given, "uid": f"slipway-{path.stem}", "panels": panels, "variables": variables})


def manifests(namespace: str) -> dict[str, dict[str, Any]]:
    """A ConfigMap per dashboard, by key."""
    return {
        f"dashboard-{each.uid.removeprefix('slipway-')}": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"dashboard-{each.uid}", "namespace": namespace, "labels": {LABEL: "1"}},
            "data": {f"{each.uid}.json": each.render()},
        }
        for each in dashboards()
    }

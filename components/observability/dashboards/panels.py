"""Grafana dashboards as values: panels with their queries, and the JSON that Grafana reads.

The JSON is the same for the same value, byte by byte: no ids of a database, no times, keys sorted. The model is that of
Grafana's "JSON model" of dashboards (grafana.com, schema version 39, which every Grafana since 10.3 reads).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

COLUMNS: Final = 24
HEIGHT: Final = 8
SCHEMA_VERSION: Final = 39
SOURCE: Final[Mapping[str, str]] = {"type": "prometheus", "uid": "prometheus"}
"""The data source that kube-prometheus-stack makes (88.5.3, grafana.sidecar.datasources.uid)."""

Kind = Literal["timeseries", "stat", "table", "bargauge"]
Unit = Literal["percentunit", "short", "s", "bytes", "currencyUSD", "reqps", "cores", "none"]
"""Units of Grafana; `cores` is a suffix of ours."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """One query of a panel.

    Attributes:
        expression: PromQL; may hold variables of the dashboard: `$team`.
        legend: How a series is called: `{{team}}`.
    """

    expression: str
    legend: str


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One picture.

    Attributes:
        title: Its title.
        queries: What it shows; a table has one.
        kind: How it shows it.
        unit: Unit of the values.
        about: What it means and where the figures come from.
        width: Columns of 24.
        columns: Labels of a table, in order; the value is the last column.
        stacked: Put series on top of each other: what they sum to is what matters.
        maximum: End of the axis, where the unit has one.
    """

    title: str
    queries: Sequence[Query]
    kind: Kind = "timeseries"
    unit: Unit = "short"
    about: str = ""
    width: int = 12
    columns: Sequence[str] = ()
    stacked: bool = False
    maximum: float | None = None


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A choice at the top of a dashboard: values of a label of some series, all of them at first."""

    name: str
    series: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Dashboard:
    """One dashboard.

    Attributes:
        uid: Its address; bookmarks live by it, so it never changes.
        title: Its title.
        about: What question it answers.
        panels: Panels in reading order.
        variables: Choices at the top.
        since: How far back it looks at first.
    """

    uid: str
    title: str
    about: str
    panels: Sequence[Panel]
    variables: Sequence[Variable] = field(default_factory=tuple)
    since: str = "now-6h"

    def render(self) -> str:
        """JSON as Grafana reads it."""
        return json.dumps(self._model(), sort_keys=True, indent=1, ensure_ascii=False) + "\n"

    def _model(self) -> dict[str, Any]:
        return {
            "uid": self.uid,
            "title": self.title,
            "description": self.about,
            "tags": ["slipway"],
            "schemaVersion": SCHEMA_VERSION,
            "editable": False,
            "refresh": "1m",
            "timezone": "utc",
            "time": {"from": self.since, "to": "now"},
            "templating": {"list": [_variable(each) for each in self.variables]},
            "panels": [_panel(panel, place) for panel, place in zip(self.panels, places(self.panels), strict=True)],
        }


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a panel lies on the grid, and its number."""

    number: int
    x: int
    y: int


def places(panels: Sequence[Panel]) -> list[Place]:
    """Panels side by side from the left, in rows of one height."""
    grid: list[Place] = []
    x = y = 0
    for number, panel in enumerate(panels, start=1):
        if x + panel.width > COLUMNS:
            x, y = 0, y + HEIGHT
        grid.append(Place(number=number, x=x, y=y))
        x += panel.width
    return grid


def _variable(variable: Variable) -> dict[str, Any]:
    return {
        "name": variable.name,
        "type": "query",
        "datasource": dict(SOURCE),
        "query": {"query": f"label_values({variable.series}, {variable.label})", "refId": variable.name},
        "includeAll": True,
        "allValue": ".*",
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
        "refresh": 2,
        "sort": 1,
    }


def _panel(panel: Panel, place: Place) -> dict[str, Any]:
    unit = "suffix: cores" if panel.unit == "cores" else panel.unit
    limits = {"min": 0, **({"max": panel.maximum} if panel.maximum is not None else {})}
    custom = {"fillOpacity": 20, "stacking": {"mode": "normal"}} if panel.stacked else {"fillOpacity": 0}
    defaults = {"unit": unit, **limits, **({"custom": custom} if panel.kind == "timeseries" else {})}
    return {
        "id": place.number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": dict(SOURCE),
        "gridPos": {"x": place.x, "y": place.y, "w": panel.width, "h": HEIGHT},
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": [_target(query, position, panel.kind) for position, query in enumerate(panel.queries)],
        **(_table(panel.columns) if panel.kind == "table" else {}),
    }


def _target(query: Query, position: int, kind: Kind) -> dict[str, Any]:
    at_once = kind != "timeseries"
    return {
        "refId": chr(ord("A") + position),
        "datasource": dict(SOURCE),
        "expr": query.expression,
        "legendFormat": query.legend,
        "instant": at_once,
        "range": not at_once,
        "format": "table" if kind == "table" else "time_series",
    }


def _table(columns: Sequence[str]) -> dict[str, Any]:
    """Columns in order, the time left out, sorted by value from the top."""
    organize = {
        "excludeByName": {"Time": True},
        "indexByName": {name: position for position, name in enumerate([*columns, "Value"])},
    }
    return {
        "transformations": [{"id": "organize", "options": organize}],
        "options": {"sortBy": [{"displayName": "Value", "desc": True}]},
    }

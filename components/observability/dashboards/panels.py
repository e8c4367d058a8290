"""Grafana dashboards as values: panels with queries, and their JSON.

The JSON is deterministic: no database IDs, no timestamps, sorted keys. The model is that of Grafana's "JSON model" of
dashboards (grafana.com, schema version 39, which every Grafana since 10.3 reads).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, Literal

COLUMNS: Final = 24
HEIGHT: Final = 8
SCHEMA_VERSION: Final = 39
SOURCE: Final[Mapping[str, str]] = {"type": "prometheus", "uid": "prometheus"}
"""The data source that kube-prometheus-stack creates (88.5.3, grafana.sidecar.datasources.uid)."""

Kind = Literal["timeseries", "stat", "table", "bargauge"]
Unit = Literal["percentunit", "short", "s", "bytes", "currencyUSD", "reqps", "cores", "none"]
"""Units of Grafana; `cores` is a custom suffix."""


@dataclass(frozen=True)
class Query:
    """One query of a panel."""

    expression: str  # PromQL; may contain variables of the dashboard: `$team`
    legend: str = ""  # legend format of a series: `{{team}}`


@dataclass(frozen=True)
class Panel:
    """One panel."""

    title: str
    queries: Sequence[Query]  # its queries; a table has one
    _: KW_ONLY
    kind: Kind = "timeseries"  # panel type
    unit: Unit = "short"  # unit of the values
    about: str = ""  # description: meaning and source of the values
    width: int = 12  # width in grid columns, of 24
    columns: Sequence[str] = ()  # labels of a table, in order; the value is the last column
    stacked: bool = False  # stack the series, if their sum matters
    maximum: float | None = None  # maximum of the axis, if the unit has one


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A variable of a dashboard: values of a label of some series; all are selected by default."""

    name: str
    series: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Dashboard:
    """One dashboard."""

    uid: str  # its UID in URLs; it never changes, because bookmarks contain it
    title: str
    about: str  # its description
    panels: Sequence[Panel]  # panels in reading order
    variables: Sequence[Variable] = field(default_factory=tuple)  # variables at the top
    since: str = "now-6h"  # default time range

    def render(self) -> str:
        """The dashboard's JSON."""
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
    """Position of a panel on the grid, and its number."""

    number: int
    x: int
    y: int


def places(panels: Sequence[Panel]) -> list[Place]:
    """Positions of panels side by side from the left, in rows of equal height."""
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
    """Table with these columns in order, without time, sorted by value in descending order."""
    organize = {
        "excludeByName": {"Time": True},
        "indexByName": {name: position for position, name in enumerate([*columns, "Value"])},
    }
    return {
        "transformations": [{"id": "organize", "options": organize}],
        "options": {"sortBy": [{"displayName": "Value", "desc": True}]},
    }

"""Checks of the source of charts."""

from __future__ import annotations

from collections.abc import Iterator

from spec.settings.charts import Charts
from spec.settings.checks.base import Context
from spec.settings.problems import Problem


def one_source(_context: Context, charts: Charts) -> Iterator[Problem]:
    """Charts come from one place."""
    if charts.directory is not None and charts.registry is not None:
        value = {"directory": charts.directory, "registry": charts.registry}
        yield Problem("charts", "charts come from a directory or from a registry", value, "Remove one of the two.")

"""Releases of the stacks, rendered by helm from whole charts."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.helm import preview
from sandbox.kubernetes.helm.binary import available
from sandbox.kubernetes.helm.chart import Chart, Charts
from sandbox.kubernetes.helm.manifest import flat
from sandbox.kubernetes.helm.records import ReleaseName
from sandbox.kubernetes.helm.text import documents
from slipway.charts import uses
from slipway.charts.check import without_unknowns
from slipway.charts.uses import Use
from spec.catalog import kubernetes
from tests.support import stacks

Objects = list[dict[str, Any]]


@cache
def releases(*names: str) -> dict[str, Use]:
    """Releases of stacks by name; of one that several stacks have, that of the last."""
    return {use.release: use for stack in names for use in uses.of_platform(stacks.platform_of(stack), stack)}


def rendered(charts: Path, use: Use, values: Mapping[str, Any] | None = None) -> Objects | None:
    """Objects of a release, with its own or other values; None if its chart is incomplete. Skips without helm."""
    helm = available()
    if helm is None:
        pytest.skip("no helm here: run `python -m sandbox.toolchain ensure helm`, or `make setup`")
    chart = Charts(charts).find(use.chart, use.version)
    if chart is None or not chart.has_templates or any(chart.subchart(name) is None for _, name in chart.dependencies):
        return None
    given = without_unknowns(use.values if values is None else values)
    name = ReleaseName(use.release, "system")
    return objects_without_cluster(helm, chart, name, given, ["monitoring.coreos.com/v1"])


def objects_without_cluster(
    helm: Path, chart: Chart, release: ReleaseName, values: Mapping[str, Any], apis: Sequence[str]
) -> Objects:
    """All that the chart renders to for the platform's default version and the named APIs, without its hooks.

    Nothing is left out of it. Raises SandboxError.
    """
    version, text = f"{kubernetes.DEFAULT}.0", json.dumps(values, sort_keys=True)
    rendering = preview._template(helm, chart.path, release, text, version, tuple(apis))
    documented = documents(rendering, f"the rendering of chart {chart.name}")
    return [each for obj in documented for each in flat(obj) if not preview._is_hook(each)]

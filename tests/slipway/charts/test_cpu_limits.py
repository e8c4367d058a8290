"""Rendered controllers have no CPU limit: a chart's own stays unless our values remove it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from components.base.sizing import sized, uncapped
from slipway.charts import uses
from slipway.charts.check import without_unknowns
from slipway.charts.uses import Use
from slipway.sandbox.kubernetes.helm.chart import Charts
from slipway.sandbox.kubernetes.helm.render import ReleaseName, available, render
from tests.support import stacks

LIMITED: Final[Mapping[tuple[str, str], str]] = {
    ("kserve-release", "manager"): "4",
}
"""CPU limits that cannot be removed, by release and container, with their value."""
CONTROLLERS: Final = ("Deployment", "StatefulSet")


@pytest.fixture(scope="module")
def helm() -> Path:
    found = available()
    if found is None:
        pytest.skip("no helm here: run `python -m slipway.toolchain ensure helm`, or `make setup`")
    return found


def limits(objects: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """CPU limits of controllers, by container."""
    for each in objects:
        if each["kind"] in CONTROLLERS:
            for container in each["spec"]["template"]["spec"]["containers"]:
                limit = ((container.get("resources") or {}).get("limits") or {}).get("cpu")
                if limit is not None:
                    yield container["name"], str(limit)


def releases() -> dict[str, Use]:
    """One release of each name that a stack has."""
    return {use.release: use for stack in stacks.NAMES for use in uses.of_platform(stacks.platform_of(stack), stack)}


def rendered(helm: Path, charts: Charts, use: Use, values: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    chart = charts.find(use.chart, use.version)
    if chart is None or not chart.has_templates or any(chart.subchart(name) is None for _, name in chart.dependencies):
        return None
    return render(helm, chart, ReleaseName(use.release, "system"), values, ["monitoring.coreos.com/v1"])


def test_no_controller_of_a_stack_has_a_cpu_limit(helm: Path, shared: Path) -> None:
    charts = Charts(shared / "charts-full")
    found: dict[tuple[str, str], str] = {}
    seen = set()
    for name, use in releases().items():
        objects = rendered(helm, charts, use, without_unknowns(use.values))
        if objects is not None:
            seen.add(use.chart)
            found |= {(name, container): limit for container, limit in limits(objects)}
    assert seen >= {"kueue", "jobset", "keda", "kserve-resources", "gpu-operator", "kubecost"}
    assert found == dict(LIMITED)


def test_a_limit_that_is_not_removed_is_found(helm: Path, shared: Path) -> None:
    charts = Charts(shared / "charts-full")
    use = Use(release="jobset", chart="jobset", version=releases()["jobset-release"].version, values={})
    kept, removed = (
        rendered(helm, charts, use, {"controller": {"resources": resources("50m", "256Mi")}})
        for resources in (sized, uncapped)
    )
    assert kept is not None
    assert removed is not None
    assert [limit for _, limit in limits(kept)] == ["2"]
    assert list(limits(removed)) == []

"""Rendered controllers have no CPU limit: a chart's own stays unless our values remove it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from components.base.sizing import sized, uncapped
from tests.slipway.charts.rendering import Objects, releases, rendered
from tests.support import stacks

LIMITED: Final[Mapping[tuple[str, str], str]] = {
    ("kserve-release", "manager"): "4",
}
"""CPU limits that cannot be removed, by release and container, with their value."""
CONTROLLERS: Final = ("Deployment", "StatefulSet")


def limits(objects: Objects) -> Iterator[tuple[str, str]]:
    """CPU limits of controllers, by container."""
    for each in objects:
        if each["kind"] in CONTROLLERS:
            for container in each["spec"]["template"]["spec"]["containers"]:
                limit = ((container.get("resources") or {}).get("limits") or {}).get("cpu")
                if limit is not None:
                    yield container["name"], str(limit)


def test_no_controller_of_a_stack_has_a_cpu_limit(shared: Path) -> None:
    found: dict[tuple[str, str], str] = {}
    seen = set()
    for name, use in releases(*stacks.NAMES).items():
        objects = rendered(shared / "charts-full", use)
        if objects is not None:
            seen.add(use.chart)
            found |= {(name, container): limit for container, limit in limits(objects)}
    assert seen >= {"kueue", "jobset", "keda", "kserve-resources", "gpu-operator", "kubecost"}
    assert found == dict(LIMITED)


def test_a_limit_that_is_not_removed_is_found(shared: Path) -> None:
    use = releases("prod")["jobset-release"]
    kept, removed = (
        rendered(shared / "charts-full", use, {"controller": {"resources": resources("50m", "256Mi")}})
        for resources in (sized, uncapped)
    )
    assert kept is not None
    assert removed is not None
    assert [limit for _, limit in limits(kept)] == ["2"]
    assert list(limits(removed)) == []

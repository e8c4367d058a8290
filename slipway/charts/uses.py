"""The charts that a platform uses, with their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.render.program import record_platform
from spec.settings import Platform

RELEASE: Final = "kubernetes:helm.sh/v3:Release"


@dataclass(frozen=True, kw_only=True)
class Use:
    """One release of a platform.

    Attributes:
        release: Logical name.
        chart: Name of the chart, without its repository or path.
        version: Requested version.
        values: Values of the release; values known only after an update are marked as unknown.
    """

    release: str
    chart: str
    version: str
    values: Mapping[str, Any]


def of_platform(platform: Platform, stack: str) -> list[Use]:
    """Every release of a platform, by logical name. Errors of the program are raised unchanged."""
    recording = record_platform(platform, stack=stack)
    releases = [_use(each.name, each.inputs.plain) for each in recording.resources.values() if each.type == RELEASE]
    return sorted(releases, key=lambda use: use.release)


def by_chart(uses: Iterable[Use]) -> dict[str, list[Use]]:
    """Releases grouped by chart."""
    groups: dict[str, list[Use]] = {}
    for use in uses:
        groups.setdefault(use.chart, []).append(use)
    return dict(sorted(groups.items()))


def _use(name: str, inputs: Mapping[str, Any]) -> Use:
    return Use(
        release=name,
        chart=str(inputs["chart"]).rstrip("/").rpartition("/")[2],
        version=str(inputs["version"]),
        values=inputs.get("values") or {},
    )

"""Which charts a platform uses, and with what values."""

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
        chart: Name of the chart, without the place where it is.
        version: Version that is asked for.
        values: Values that are given to it; what only a cloud knows is marked as unknown.
    """

    release: str
    chart: str
    version: str
    values: Mapping[str, Any]


def of_platform(platform: Platform, stack: str) -> list[Use]:
    """Every release of a platform, by logical name. Raises whatever its program raises."""
    recording = record_platform(platform, stack=stack)
    found = [_use(each.name, each.inputs.plain) for each in recording.resources.values() if each.type == RELEASE]
    return sorted(found, key=lambda use: use.release)


def together(uses: Iterable[Use]) -> dict[str, list[Use]]:
    """Uses by chart."""
    found: dict[str, list[Use]] = {}
    for use in uses:
        found.setdefault(use.chart, []).append(use)
    return dict(sorted(found.items()))


def _use(name: str, inputs: Mapping[str, Any]) -> Use:
    return Use(
        release=name,
        chart=str(inputs["chart"]).rstrip("/").rpartition("/")[2],
        version=str(inputs["version"]),
        values=inputs.get("values") or {},
    )

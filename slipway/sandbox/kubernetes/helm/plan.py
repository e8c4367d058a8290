"""How far the sandbox can rehearse a release: install its chart, check its values, or only record it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipway.sandbox.kubernetes.helm import binary, schema, values
from slipway.sandbox.kubernetes.helm.chart import Chart, Charts
from slipway.sandbox.kubernetes.helm.records import ReleaseName
from slipway.sandbox.notes import NoteKind


@dataclass(frozen=True)
class Plan:
    """How far a release is rehearsed, and why not further."""

    mode: NoteKind
    text: str
    chart: Chart | None = None
    helm: Path | None = None

    def problems(self, release_values: Mapping[str, Any]) -> list[str]:
        """The problems with the values, one line each."""
        if self.chart is None:
            return []
        return [*values.problems(self.chart, release_values), *schema.problems(self.chart, release_values)]


def make_plan(charts: Charts, inputs: Mapping[str, Any]) -> Plan:
    """Find the chart and helm, and decide what is possible."""
    reference, version = str(inputs["chart"]), str(inputs.get("version") or "")
    chart = charts.find(reference, version)
    if chart is None:
        return Plan(NoteKind.RECORDED, f"chart {reference} is not in SLIPWAY_CHARTS: nothing was checked or applied")
    about = f"chart {chart.name} {chart.version}"
    if version and version.lstrip("v") != chart.version.lstrip("v"):
        about += f" (the release names {version})"
    missing = [name for _, name in chart.dependencies if chart.subchart(name) is None]
    if not chart.has_templates or missing:
        why = f"its subcharts are missing: {', '.join(missing)}" if missing else "it has no templates here"
        text = f"{about}: values checked, CRDs applied, nothing installed, because {why}"
        return Plan(NoteKind.CHECKED, text, chart)
    helm = binary.available()
    if helm is None:
        install = "`python -m slipway.toolchain ensure helm`"
        text = f"{about}: values checked, CRDs applied, nothing installed, because helm is not installed ({install})"
        return Plan(NoteKind.CHECKED, text, chart)
    return Plan(NoteKind.INSTALLED, f"{about}: installed by Helm", chart, helm)


def release_name(inputs: Mapping[str, Any]) -> ReleaseName:
    """The release's name and namespace, which Check has filled in."""
    return ReleaseName(str(inputs["name"]), str(inputs["namespace"]))

"""What the sandbox can do for a release: render its chart, check its values, or only record it. Said, never hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipway.sandbox.kubernetes.helm import render, schema, values
from slipway.sandbox.kubernetes.helm.chart import Chart, Charts
from slipway.sandbox.kubernetes.helm.render import ReleaseName
from slipway.sandbox.notes import NoteKind


@dataclass(frozen=True)
class Plan:
    """How far a release is rehearsed, and why no further."""

    mode: NoteKind
    text: str
    chart: Chart | None = None
    helm: Path | None = None

    def problems(self, given: Mapping[str, Any]) -> list[str]:
        """What is wrong with the values, one line each."""
        if self.chart is None:
            return []
        return [*values.problems(self.chart, given), *schema.problems(self.chart, given)]


def make_plan(charts: Charts, inputs: Mapping[str, Any]) -> Plan:
    """Look for the chart and for helm."""
    reference, version = str(inputs["chart"]), str(inputs.get("version") or "")
    chart = charts.find(reference, version)
    if chart is None:
        return Plan(
            NoteKind.RECORDED, f"chart {reference} is not at hand (SLIPWAY_CHARTS): nothing was checked or applied"
        )
    about = f"chart {chart.name} {chart.version}"
    if version and version.lstrip("v") != chart.version.lstrip("v"):
        about += f" (the release asks for {version})"
    missing = [name for _, name in chart.dependencies if chart.subchart(name) is None]
    if not chart.has_templates or missing:
        why = f"its subcharts are not packed with it: {', '.join(missing)}" if missing else "it has no templates here"
        return Plan(NoteKind.CHECKED, f"{about}: values checked, CRDs applied, nothing rendered, for {why}", chart)
    helm = render.available()
    if helm is None:
        text = f"{about}: values checked, CRDs applied, nothing rendered, for helm is not installed (`make setup`)"
        return Plan(NoteKind.CHECKED, text, chart)
    return Plan(NoteKind.RENDERED, f"{about}: rendered and applied, without hooks", chart, helm)


def release_name(inputs: Mapping[str, Any]) -> ReleaseName:
    """The release's name and namespace; Check has filled in both."""
    return ReleaseName(str(inputs["name"]), str(inputs["namespace"]))

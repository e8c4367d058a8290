"""Getting charts from where they are published, for users with a network: `helm pull`, one folder a chart."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slipway.sandbox.kubernetes.helm.chart import SOURCE_FILE
from spec.catalog import charts
from spec.catalog.charts import ChartRef

SECONDS: Final = 120
"""The largest chart, kube-prometheus-stack, has 1 MB packed; a mirror may be slow."""


@dataclass(frozen=True, kw_only=True)
class Pulled:
    """What became of one chart; `problem` is empty where it is at hand now."""

    chart: ChartRef
    folder: Path
    problem: str = ""


def pinned() -> tuple[ChartRef, ...]:
    """Every pin of the platform, by name."""
    found = {each.name: each for each in vars(charts).values() if isinstance(each, ChartRef)}
    return tuple(found[name] for name in sorted(found))


def pull(helm: Path, charts: Iterable[ChartRef], directory: Path) -> list[Pulled]:
    """Get charts, each into a folder of its name that is replaced as a whole; one that fails leaves the old one."""
    directory.mkdir(parents=True, exist_ok=True)
    return [_pull(helm, chart, directory) for chart in charts]


def arguments(chart: ChartRef, into: Path) -> list[str]:
    """What helm is asked."""
    place = ["--repo", chart.repository] if chart.repository else []
    return ["pull", chart.chart, *place, "--version", chart.version, "--untar", "--untardir", str(into)]


def _pull(helm: Path, chart: ChartRef, directory: Path) -> Pulled:
    folder = directory / chart.name
    with tempfile.TemporaryDirectory(dir=directory, prefix=".pull-") as place:
        problem = _run([str(helm), *arguments(chart, Path(place))])
        fresh = Path(place) / chart.name
        if not problem and not (fresh / "Chart.yaml").is_file():
            problem = f"helm left no folder {chart.name} with a Chart.yaml"
        if not problem:
            (fresh / SOURCE_FILE).write_text(
                f"chart_location: {chart.repository or chart.chart}\nchart_version: {chart.version}\n", encoding="utf-8"
            )
            shutil.rmtree(folder, ignore_errors=True)
            fresh.rename(folder)
    return Pulled(chart=chart, folder=folder, problem=problem)


def _run(argv: list[str]) -> str:
    """Empty where it went well, else the last line of what was said."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS} s"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.strip().splitlines() if line]
    return lines[-1] if lines else f"helm ended with {done.returncode}"

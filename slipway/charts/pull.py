"""Downloads published charts with `helm pull`, one folder per chart; needs network access."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sandbox.kubernetes.helm.chart import SOURCE_FILE
from spec.catalog.software import CHARTS, ChartRef

SECONDS: Final = 120
"""Timeout of a download. The largest chart, kube-prometheus-stack, has 1 MB packed; a mirror may be slow."""


@dataclass(frozen=True, kw_only=True)
class Pulled:
    """The result for one chart; `problem` is empty if the download succeeded."""

    chart: ChartRef
    folder: Path
    problem: str = ""


def pinned() -> tuple[ChartRef, ...]:
    """Every pinned chart of the platform, by name."""
    return tuple(CHARTS[name] for name in sorted(CHARTS))


def pull(helm: Path, charts: Iterable[ChartRef], directory: Path) -> list[Pulled]:
    """Download charts, each into a folder of its name, which is replaced; a failed download keeps the old folder."""
    directory.mkdir(parents=True, exist_ok=True)
    return [_pull(helm, chart, directory) for chart in charts]


def arguments(chart: ChartRef, into: Path) -> list[str]:
    """The arguments of `helm pull`."""
    place = [] if chart.in_registry else ["--repo", chart.repository]
    return ["pull", chart.chart, *place, "--version", chart.version, "--untar", "--untardir", str(into)]


def _pull(helm: Path, chart: ChartRef, directory: Path) -> Pulled:
    folder = directory / chart.name
    with tempfile.TemporaryDirectory(dir=directory, prefix=".pull-") as place:
        problem = _run([str(helm), *arguments(chart, Path(place))])
        fresh = Path(place) / chart.name
        if not problem and not (fresh / "Chart.yaml").is_file():
            problem = f"helm wrote no {chart.name}/Chart.yaml"
        if not problem:
            location = chart.chart if chart.in_registry else chart.repository
            (fresh / SOURCE_FILE).write_text(
                f"chart_location: {location}\nchart_version: {chart.version}\n", encoding="utf-8"
            )
            shutil.rmtree(folder, ignore_errors=True)
            fresh.rename(folder)
    return Pulled(chart=chart, folder=folder, problem=problem)


def _run(argv: list[str]) -> str:
    """The last line of helm's error output; empty if it succeeded."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no response within {SECONDS} s"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.strip().splitlines() if line]
    return lines[-1] if lines else f"helm exited with code {done.returncode}"

"""Whether a stack's own directory of charts has every chart that its releases name, at the pinned version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from slipway.charts.check import same
from slipway.charts.uses import of_platform
from slipway.sandbox.kubernetes.helm.chart import Chart, Charts
from spec.settings import ConfigurationError, Platform, Problem

PATH = "charts.directory"


def require(platform: Platform, stack: str, root: Path) -> None:
    """Check the directory, if the settings name one.

    Args:
        platform: Settings of the stack.
        stack: Name of the stack.
        root: Folder of Pulumi.yaml, where a relative directory begins.

    Raises:
        ConfigurationError: With every chart that is missing, incomplete or of another version.
    """
    if platform.charts.path is None:
        return
    directory = root / platform.charts.path
    wanted = dict.fromkeys((use.chart, use.version) for use in of_platform(platform, stack))
    if problems := [problem for chart, version in wanted for problem in _problems(directory, chart, version)]:
        raise ConfigurationError(problems, f"stack {stack}")


def _problems(directory: Path, name: str, version: str) -> Iterator[Problem]:
    folder = directory / name
    pull = f"`slipway charts pull {name} --dir {directory}` downloads it where there is a network."
    chart = Charts(None).find(str(folder.absolute()))
    if chart is None:
        yield Problem(PATH, f"the directory must have chart {name} {version}", f"no {folder / 'Chart.yaml'}", pull)
        return
    if not same(chart.version, version):
        rule = f"chart {name} must have the pinned version {version}"
        yield Problem(PATH, rule, f"{chart.version} in {folder}", pull)
    if missing := [subchart for _, subchart in chart.dependencies if not _has(chart, subchart)]:
        rule = f"chart {name} must have its subcharts, because Helm refuses a chart without them"
        yield Problem(PATH, rule, f"no {', '.join(missing)} in {folder / 'charts'}", pull)


def _has(chart: Chart, subchart: str) -> bool:
    """Whether a subchart is there, unpacked or packed."""
    return chart.subchart(subchart) is not None or any((chart.path / "charts").glob(f"{subchart}-*.tgz"))

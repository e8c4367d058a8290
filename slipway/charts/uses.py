"""The charts that a platform uses, with their values, and whether a stack's own directory has them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sandbox.kubernetes.helm.chart import Chart, Charts
from slipway.render.program import record_platform
from spec.settings import ConfigurationError, Platform, Problem

# The charts that a platform uses, with their values.


RELEASE: Final = "kubernetes:helm.sh/v3:Release"


@dataclass(frozen=True, kw_only=True)
class Use:
    """One release of a platform."""

    release: str  # logical name
    chart: str  # name of the chart, without its repository or path
    version: str  # requested version
    values: Mapping[str, Any]  # values of the release; values known only after an update are marked as unknown


def of_platform(platform: Platform, stack: str) -> list[Use]:
    """Every release of a platform, by logical name. Errors of the program are raised unchanged."""
    recording = record_platform(platform, stack=stack)
    releases = [
        of_release(each.name, each.inputs.plain) for each in recording.resources.values() if each.type == RELEASE
    ]
    return sorted(releases, key=lambda use: use.release)


def by_chart(uses: Iterable[Use]) -> dict[str, list[Use]]:
    """Releases grouped by chart."""
    groups: dict[str, list[Use]] = {}
    for use in uses:
        groups.setdefault(use.chart, []).append(use)
    return dict(sorted(groups.items()))


def of_release(name: str, inputs: Mapping[str, Any]) -> Use:
    """The use of a chart by a release of that logical name."""
    return Use(
        release=name,
        chart=str(inputs["chart"]).rstrip("/").rpartition("/")[2],
        version=str(inputs["version"]),
        values=inputs.get("values") or {},
    )


# Whether a stack's own directory of charts has every chart that its releases name, at the pinned version.


PATH = "charts.directory"


def require(platform: Platform, stack: str, root: Path) -> None:
    """Check the directory, if the settings name one.

    Args:
        platform: Settings of the stack.
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
    pull = f"`slipway catalog pull {name} --dir {directory}` downloads it where there is a network."
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


def same(one: str, other: str) -> bool:
    """Whether two versions are equal: to Helm, v26.7.0 is 26.7.0."""
    return one.lstrip("v") == other.lstrip("v")

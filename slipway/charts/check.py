"""Checks the values of releases against the downloaded charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from slipway.charts import keys
from slipway.charts.uses import Use
from slipway.charts.verified import Verified
from slipway.render.values import UNKNOWN
from slipway.sandbox.kubernetes.helm import schema, values
from slipway.sandbox.kubernetes.helm.chart import Chart, Charts
from slipway.sandbox.kubernetes.unknowns import PLACEHOLDER

_PLAIN: Final = (str, int, float, bool, type(None))


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result for one chart.

    Attributes:
        chart: Its name.
        version: Version that the releases request.
        available: Downloaded version; None if the chart is not downloaded.
        problems: Problems of the values, one line each, with the release.
        known: The platform's keys that the chart supports.
    """

    chart: str
    version: str
    available: str | None
    problems: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()

    @property
    def verified(self) -> bool:
        """Whether the chart supports every key, in the requested version."""
        return self.available is not None and not self.problems and same(self.available, self.version)


def check(charts: Mapping[str, Iterable[Use]], directory: Path) -> list[Finding]:
    """A finding per chart, for releases grouped by chart."""
    available = Charts(directory)
    return [_check(name, tuple(uses), available) for name, uses in charts.items()]


def record(findings: Iterable[Finding]) -> dict[str, Verified]:
    """The entries to record: charts that support every key, in the requested version."""
    return {each.chart: Verified(version=each.version, keys=each.known) for each in findings if each.verified}


def same(one: str, other: str) -> bool:
    """Whether two versions are equal: to Helm, v26.7.0 is 26.7.0."""
    return one.lstrip("v") == other.lstrip("v")


def _check(name: str, uses: tuple[Use, ...], charts: Charts) -> Finding:
    version = uses[0].version
    chart = charts.find(name, version)
    if chart is None:
        return Finding(chart=name, version=version, available=None)
    problems = tuple(dict.fromkeys(line for use in uses for line in _problems(chart, use)))
    known = (
        frozenset(path for use in uses for path in keys.verified(chart, use.values)) if not problems else frozenset()
    )
    return Finding(chart=name, version=version, available=chart.version, problems=problems, known=known)


def _problems(chart: Chart, use: Use) -> Iterator[str]:
    known = without_unknowns(use.values)
    for line in (*values.problems(chart, known), *schema.problems(chart, known)):
        yield f"{use.release}: {line}"


def without_unknowns(value: Any) -> Any:
    """Values for a chart: a placeholder for each that only a cloud can tell."""
    if isinstance(value, Mapping):
        return {key: without_unknowns(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_unknowns(each) for each in value]
    return PLACEHOLDER if value is UNKNOWN or not isinstance(value, _PLAIN) else value

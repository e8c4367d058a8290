"""Values of releases against the charts at hand."""

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
    """What came of one chart.

    Attributes:
        chart: Its name.
        version: Version that releases ask for.
        at_hand: Version at hand; None where the chart is not.
        problems: What is wrong with values, one line each, with the release.
        known: Keys of ours that the chart knows.
    """

    chart: str
    version: str
    at_hand: str | None
    problems: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()

    @property
    def verified(self) -> bool:
        """Whether every key was found, in the version that is asked for."""
        return self.at_hand is not None and not self.problems and same(self.at_hand, self.version)


def check(charts: Mapping[str, Iterable[Use]], directory: Path) -> list[Finding]:
    """Findings by chart, for uses by chart."""
    at_hand = Charts(directory)
    return [_check(name, tuple(uses), at_hand) for name, uses in charts.items()]


def record(findings: Iterable[Finding]) -> dict[str, Verified]:
    """What may be written down: charts whose every key was found, in the version that is asked for."""
    return {each.chart: Verified(version=each.version, keys=each.known) for each in findings if each.verified}


def same(one: str, other: str) -> bool:
    """Whether two versions are one: to Helm, v26.7.0 is 26.7.0."""
    return one.lstrip("v") == other.lstrip("v")


def _check(name: str, uses: tuple[Use, ...], charts: Charts) -> Finding:
    version = uses[0].version
    chart = charts.find(name, version)
    if chart is None:
        return Finding(chart=name, version=version, at_hand=None)
    problems = tuple(dict.fromkeys(line for use in uses for line in _problems(chart, use)))
    known = (
        frozenset(path for use in uses for path in keys.verified(chart, use.values)) if not problems else frozenset()
    )
    return Finding(chart=name, version=version, at_hand=chart.version, problems=problems, known=known)


def _problems(chart: Chart, use: Use) -> Iterator[str]:
    given = _without_unknowns(use.values)
    for line in (*values.problems(chart, given), *schema.problems(chart, given)):
        yield f"{use.release}: {line}"


def _without_unknowns(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_unknowns(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_unknowns(each) for each in value]
    return PLACEHOLDER if value is UNKNOWN or not isinstance(value, _PLAIN) else value

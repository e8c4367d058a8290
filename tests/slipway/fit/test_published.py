"""The estimates match published figures, and the guide shows both."""

from pathlib import Path

import pytest

from tests.slipway.fit.published import Case, cases, table

MAX_ERROR = 0.15
GUIDE = Path(__file__).parents[3] / "docs/guides/fit.md"


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.what)
def test_an_estimate_is_within_the_documented_error(case: Case) -> None:
    assert abs(case.error) <= MAX_ERROR, f"{case.estimate:.2f} instead of {case.figure} {case.unit}: {case.error:+.1%}"


@pytest.mark.parametrize("case", cases("misses"), ids=lambda case: case.what)
def test_a_documented_miss_is_still_one_and_has_a_reason(case: Case) -> None:
    assert abs(case.error) > MAX_ERROR, "it is within the error now: list it under cases"
    assert case.why


def test_many_figures_are_measured_and_from_several_sources() -> None:
    measured = [case for case in cases() if case.kind == "measured"]
    assert len(measured) >= 8
    assert len({case.source for case in measured}) >= 3


@pytest.mark.parametrize("kind", ["cases", "misses"])
def test_the_guide_shows_every_figure_with_its_error(kind: str) -> None:
    assert table(kind) in GUIDE.read_text(encoding="utf-8"), f"docs/guides/fit.md must contain:\n\n{table(kind)}\n"

"""The estimate against what others published, and the docs against both."""

from pathlib import Path

import pytest

from tests.slipway.fit.published import Case, cases, table

PROMISE = 0.15
GUIDE = Path(__file__).parents[3] / "docs/guides/fit.md"


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.what)
def test_an_estimate_is_within_what_is_promised(case: Case) -> None:
    assert abs(case.error) <= PROMISE, f"{case.estimate:.2f} instead of {case.figure} {case.unit}: {case.error:+.1%}"


@pytest.mark.parametrize("case", cases("misses"), ids=lambda case: case.what)
def test_what_is_missed_is_still_missed_and_says_why(case: Case) -> None:
    assert abs(case.error) > PROMISE, "it is no miss any more: list it with the others"
    assert case.why


def test_most_figures_are_measured_and_from_several_sources() -> None:
    measured = [case for case in cases() if case.kind == "measured"]
    assert len(measured) >= 8
    assert len({case.source for case in measured}) >= 3


@pytest.mark.parametrize("kind", ["cases", "misses"])
def test_the_guide_shows_every_figure_with_its_error(kind: str) -> None:
    assert table(kind) in GUIDE.read_text(encoding="utf-8"), f"docs/guides/fit.md wants:\n\n{table(kind)}\n"

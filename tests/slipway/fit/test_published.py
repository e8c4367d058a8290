"""The estimate against what others published, and the docs against both."""

import pytest

from tests.slipway.fit.published import GUIDE, KINDS, Case, cases, table
from tests.support import generated

PROMISE = 0.15


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


@pytest.mark.parametrize("kind", KINDS)
def test_the_guide_shows_every_figure_with_its_error(kind: str) -> None:
    generated.check_part(GUIDE, kind, table(kind), generated.FIT)

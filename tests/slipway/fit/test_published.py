"""The estimates match published figures, and the guide shows both."""

import pytest

from tests.slipway.fit.published import GUIDE, KINDS, Case, cases, table
from tests.support import generated

MAX_ERROR = 0.15


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


@pytest.mark.parametrize("kind", KINDS)
def test_the_guide_shows_every_figure_with_its_error(kind: str) -> None:
    generated.check_part(GUIDE, kind, table(kind), generated.FIT)

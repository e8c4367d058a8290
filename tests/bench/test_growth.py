from typing import Any

import pytest

from spec.settings import load, read_stack
from tests.bench.context import ROOT
from tests.bench.figure import Verdict
from tests.bench.numbers.growth import POOLS, STACK, TEAMS, TIMES, figures, settings, team_settings


@pytest.mark.parametrize("pools", [0, POOLS, POOLS * TIMES])
def test_stacks_of_every_size_pass_the_checks(pools: int) -> None:
    raw: Any = read_stack(STACK, ROOT / "stacks")
    assert len(load(settings(raw, pools), stack=STACK).platform.pools) == pools + 1


@pytest.mark.parametrize("teams", [0, TEAMS, TEAMS * TIMES])
def test_stacks_of_any_number_of_teams_pass_the_checks(teams: int) -> None:
    raw: Any = read_stack(STACK, ROOT / "stacks")
    assert len(load(team_settings(raw, teams), stack=STACK).platform.teams) == teams


def test_growth_is_that_of_the_whole_and_has_no_bound_for_the_pools_alone() -> None:
    whole, alone = figures({0: 1.0, 4: 1.5, 40: 6.0}, {0: 100, 4: 150, 40: 600}, "pools", 5)
    assert (whole.value, whole.verdict) == (4.0, Verdict.HELD)
    assert (alone.value, alone.verdict) == (10.0, Verdict.NO_BOUND)


def test_quadratic_growth_misses_the_bound() -> None:
    whole, _ = figures({0: 0.5, 4: 0.7, 40: 20.5}, {0: 100, 4: 150, 40: 600}, "pools", 5)
    assert whole.verdict is Verdict.MISSED

"""What is said of budgets without refusing them, and what schedules may say."""

from __future__ import annotations

import pytest

from tests.spec.settings.bad.teams import team
from tests.spec.settings.stack import loaded

TOLD = {"notifications": {"emails": ["ml@example.com"]}}


def warned(**changes: object) -> list[str]:
    """Paths of the warnings about money."""
    found = loaded({key.replace("__", "."): value for key, value in changes.items()}).warnings
    return [problem.path for problem in found if "udget" in problem.path]


def test_a_team_budget_that_nobody_hears_of_is_warned_of() -> None:
    assert warned(teams__vision=team(budgetUsd=10)) == ["teams.vision.budgetUsd"]
    assert warned(teams__vision=team(budgetUsd=10), **TOLD) == []


def test_teams_that_may_spend_more_than_the_environment_are_warned_of() -> None:
    assert warned(teams__vision=team(budgetUsd=101), cost__monthlyBudgetUsd=100, **TOLD) == ["cost.monthlyBudgetUsd"]
    assert warned(teams__vision=team(budgetUsd=100), cost__monthlyBudgetUsd=100, **TOLD) == []


@pytest.mark.parametrize(
    "expression", ["0 20 * * MON-FRI", "*/15 0-6,20-23 1,15 jan-mar 0", "0 20 * * fri", "59 23 31 12 6"]
)
def test_schedules_that_both_auto_scaling_and_kubernetes_take(expression: str) -> None:
    nights = {"stop": expression, "start": "0 7 * * 1", "timezone": "Europe/Paris", "pools": ["h100"]}
    found = loaded({"cost.schedules": {"nights": nights}})
    assert found.platform.cost.schedules["nights"].stop == expression

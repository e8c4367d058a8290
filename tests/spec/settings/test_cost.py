"""Warnings about budgets, and valid schedules."""

import pytest

from tests.spec.settings.stack import loaded, team

NOTIFIED = {"notifications": {"emails": ["ml@example.com"]}}


def warned(**changes: object) -> list[str]:
    """Paths of the warnings about budgets."""
    warnings = loaded({key.replace("__", "."): value for key, value in changes.items()}).warnings
    return [problem.path for problem in warnings if "udget" in problem.path]


def test_a_team_budget_without_recipient_is_a_warning() -> None:
    assert warned(teams__vision=team(budgetUsd=10)) == ["teams.vision.budgetUsd"]
    assert warned(teams__vision=team(budgetUsd=10), **NOTIFIED) == []


def test_team_budgets_above_the_environments_are_a_warning() -> None:
    assert warned(teams__vision=team(budgetUsd=101), cost__monthlyBudgetUsd=100, **NOTIFIED) == [
        "cost.monthlyBudgetUsd"
    ]
    assert warned(teams__vision=team(budgetUsd=100), cost__monthlyBudgetUsd=100, **NOTIFIED) == []


@pytest.mark.parametrize(
    "expression", ["0 20 * * MON-FRI", "*/15 0-6,20-23 1,15 jan-mar 0", "0 20 * * fri", "59 23 31 12 6"]
)
def test_schedules_that_both_auto_scaling_and_kubernetes_take(expression: str) -> None:
    nights = {"stop": expression, "start": "0 7 * * 1", "timezone": "Europe/Paris", "pools": ["h100"]}
    platform = loaded({"cost.schedules": {"nights": nights}}).platform
    assert platform.cost.schedules["nights"].stop == expression

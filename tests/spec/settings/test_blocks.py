"""Capacity Blocks: dates, and nodes on the days of the block only."""

from datetime import date
from typing import Any, Final

import pytest

from spec.settings import ConfigurationError, load
from tests.spec.settings.stack import STACK, changed

BLOCK: Final[dict[str, Any]] = {
    "kind": "capacity-block",
    "id": "cr-0a1b2c3d4e5f67890",
    "startDate": "2026-12-01",
    "endDate": "2026-12-15",
}
PATH: Final = "pools.h100.capacity.reservation"
BEFORE, DURING, AFTER = date(2026, 11, 30), date(2026, 12, 1), date(2026, 12, 15)


def reported(day: date, /, pool: dict[str, Any] | None = None, **reservation: Any) -> tuple[list[str], list[str]]:
    """Paths of the errors and of the warnings."""
    kept = {key: value for key, value in {**BLOCK, **reservation}.items() if value is not None}
    capacity = {"market": "reserved", "reservation": kept}
    data = changed({"pools.h100.capacity": capacity, **{f"pools.h100.{key}": v for key, v in (pool or {}).items()}})
    try:
        return [], [warning.path for warning in load(data, stack=STACK, today=day).warnings]
    except ConfigurationError as error:
        return [problem.path for problem in error.problems], []


def test_a_block_is_inactive_until_it_starts_and_active_until_it_ends() -> None:
    assert reported(BEFORE) == ([], [])
    assert reported(BEFORE, active=True) == ([f"{PATH}.active"], [])
    assert reported(DURING, active=True) == ([], [])


def test_a_block_that_is_paid_for_and_not_used_is_a_warning() -> None:
    assert reported(DURING) == ([], [f"{PATH}.active"])
    assert reported(AFTER) == ([], [])


def test_nodes_on_a_block_that_has_ended_are_a_warning() -> None:
    assert reported(date(2026, 12, 14), active=True) == ([], [])
    assert reported(AFTER, active=True) == ([], [f"{PATH}.active"])


@pytest.mark.parametrize("missing", ["startDate", "endDate"])
def test_a_managed_pool_needs_both_days(missing: str) -> None:
    assert reported(BEFORE, **{missing: None}) == ([PATH], [])


@pytest.mark.parametrize(
    ("end", "accepted"),
    [
        ("2026-12-02", True),
        ("2026-12-15", True),
        ("2026-12-16", False),
        ("2026-12-22", True),
        ("2027-06-01", True),
        ("2027-06-08", False),
        ("2026-12-01", False),
        ("2026-11-30", False),
    ],
)
def test_a_block_has_a_length_that_ec2_sells(end: str, accepted: bool) -> None:
    assert reported(BEFORE, endDate=end) == ([] if accepted else [f"{PATH}.endDate"], [])


def test_a_day_may_be_written_without_quotes() -> None:
    """YAML reads a time then: `check` sees a date, and the program what the Pulumi CLI makes of it."""
    assert reported(DURING, active=True, startDate=date(2026, 12, 1), endDate="2026-12-15T00:00:00Z") == ([], [])


def test_karpenter_and_on_demand_reservations_need_no_days_and_no_switch() -> None:
    elastic = {"provisioner": "karpenter", "efa": False}
    assert reported(DURING, elastic, startDate=None, endDate=None) == ([], [])
    assert reported(DURING, elastic, active=True) == ([f"{PATH}.active"], [])
    assert reported(DURING, kind="odcr", active=True, startDate=None, endDate=None) == ([f"{PATH}.active"], [])

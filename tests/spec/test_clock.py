"""One clock, which a variable sets for a process and those that it starts."""

import subprocess
import sys
from datetime import UTC, date, datetime

import pytest

from spec import clock
from spec.errors import EXIT_REFUSED, SlipwayError
from tests.support.day import TODAY


def test_tests_run_on_one_day_whatever_day_it_is() -> None:
    assert clock.today() == TODAY


def test_processes_that_tests_start_have_the_same_day() -> None:
    code = "from spec import clock; print(clock.today())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == TODAY.isoformat()


def test_the_variable_is_the_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(clock.VARIABLE, "2027-04-01")
    assert clock.today() == date(2027, 4, 1)


@pytest.mark.parametrize("value", [None, ""])
def test_without_the_variable_it_is_the_current_day_in_utc(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(clock.VARIABLE)
    if value is not None:
        monkeypatch.setenv(clock.VARIABLE, value)
    before = datetime.now(UTC).date()
    today = clock.today()
    assert before <= today <= datetime.now(UTC).date()


def test_the_current_day_is_not_that_of_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(clock.VARIABLE, "1999-12-31")
    before = datetime.now(UTC).date()
    current = clock.current()
    assert before <= current <= datetime.now(UTC).date()


@pytest.mark.parametrize("value", ["tomorrow", "2027-04-31", "20270401", "2027-W13-4", "2027-04-01T00:00", "1.4.2027"])
def test_what_is_no_iso_date_is_refused_with_what_to_write(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(clock.VARIABLE, value)
    with pytest.raises(
        SlipwayError, match=r"SLIPWAY_TODAY: .*ISO date \(given: .*\)\. Write it like 2027-04-01"
    ) as refused:
        clock.today()
    assert refused.value.exit_code == EXIT_REFUSED
    assert repr(value) in str(refused.value)

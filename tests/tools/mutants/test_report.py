"""The rate, and when it is too low."""

from pathlib import PurePosixPath

import pytest

from tools.mutants import report
from tools.mutants.source import Mutant
from tools.mutants.verdict import Result, Verdict

MUTANT = Mutant(PurePosixPath("infra/a.py"), 1, "number", "a = 5\n", "a = 6\n")


def results(**counts: int) -> list[Result]:
    """So many results of each verdict."""
    return [Result(MUTANT, Verdict(name), "all", 1.5, "pytest's words") for name, n in counts.items() for _ in range(n)]


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ({"killed": 97, "survived": 3}, 0),
        ({"killed": 90, "timeout": 7, "survived": 3}, 0),
        ({"killed": 96, "survived": 4}, 1),
        ({"killed": 99, "error": 1}, 1),
        ({}, 1),
    ],
)
def test_too_few_killed_and_any_not_measured_fail(counts: dict[str, int], code: int) -> None:
    assert report.exit_code(results(**counts)) == code


def test_the_summary_has_the_rate_and_each_survivor_with_its_diff() -> None:
    text = report.summary(results(killed=2, timeout=1, survived=1))
    assert "3 of 4 mutants killed: 75.00%, minimum 97%" in text
    assert text.count("survived: infra/a.py:1 (number)") == 1
    assert "-a = 5\n+a = 6\n" in text
    assert "not measured" not in text


def test_the_summary_says_why_a_mutant_was_not_measured() -> None:
    text = report.summary(results(error=1))
    assert "error: infra/a.py:1 (number)\npytest's words" in text
    assert "1 of 1 mutants not measured" in text


def test_a_mutant_has_a_line() -> None:
    (result,) = results(killed=1)
    assert report.line(3, 60, result).split() == ["3/60", "killed", "all", "1.5", "s", "number", "infra/a.py:1"]


@pytest.mark.parametrize(("noticed", "measured", "low", "high"), [(81, 263, 0.2553, 0.3662), (0, 20, 0, 0.1611)])
def test_the_interval_is_wilsons(noticed: int, measured: int, low: float, high: float) -> None:
    # Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3.
    assert report.interval(noticed, measured) == pytest.approx((low, high), abs=0.00005)

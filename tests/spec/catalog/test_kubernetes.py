from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.catalog import kubernetes


@pytest.mark.parametrize(
    ("version", "day", "stage"),
    [
        ("1.35", date(2026, 1, 26), "unknown"),
        ("1.35", date(2026, 1, 27), "standard"),
        ("1.35", date(2027, 3, 26), "standard"),
        ("1.35", date(2027, 3, 27), "extended"),
        ("1.35", date(2028, 3, 26), "extended"),
        ("1.35", date(2028, 3, 27), "ended"),
        ("1.36", date(2026, 11, 21), "standard"),
        ("1.33", date(2026, 11, 21), "extended"),
        ("1.31", date(2026, 11, 26), "ended"),
        ("1.20", date(2026, 11, 21), "unknown"),
    ],
)
def test_support_changes_on_the_day_of_the_calendar(version: str, day: date, stage: str) -> None:
    assert kubernetes.support(version, day) == stage


@given(st.sampled_from(sorted(kubernetes.VERSIONS)), st.dates(date(2024, 1, 1), date(2030, 1, 1)))
def test_support_never_gets_better_with_time(version: str, day: date) -> None:
    order = ["unknown", "standard", "extended", "ended"]

    today, tomorrow = (kubernetes.support(version, d) for d in (day, day + timedelta(days=1)))
    assert order.index(today) <= order.index(tomorrow)


def test_each_version_has_fourteen_months_of_standard_and_a_year_of_extended_support() -> None:
    for version in kubernetes.VERSIONS.values():
        assert 14 * 30 <= (version.standard_until - version.released).days <= 14 * 31, version.name
        assert (version.extended_until - version.standard_until).days in (365, 366), version.name


def test_the_default_is_supported_and_one_behind_the_newest() -> None:
    assert kubernetes.DEFAULT == "1.35"
    assert kubernetes.support(kubernetes.DEFAULT, kubernetes.SOURCE.day) == "standard"
    assert kubernetes.next_minor(kubernetes.DEFAULT) == list(kubernetes.VERSIONS)[-1]


def test_versions_are_without_gap_and_oldest_first() -> None:
    names = list(kubernetes.VERSIONS)

    assert [kubernetes.next_minor(name) for name in names[:-1]] == names[1:]


@pytest.mark.parametrize(
    ("node", "plane", "behind"),
    [("1.33", "1.35", 2), ("1.36", "1.35", -1), ("1.35", "1.35", 0), ("latest", "1.35", None)],
)
def test_skew_is_counted_in_minor_versions(node: str, plane: str, behind: int | None) -> None:
    assert kubernetes.skew(node, plane) == behind


@pytest.mark.parametrize("text", ["1.9", "1.10"])
def test_minor_versions_are_numbers_and_not_decimals(text: str) -> None:
    assert kubernetes.next_minor(text) == {"1.9": "1.10", "1.10": "1.11"}[text]


def test_what_is_no_version_has_no_next() -> None:
    with pytest.raises(ValueError, match=r"write it like 1\.35"):
        kubernetes.next_minor("1.35.2")

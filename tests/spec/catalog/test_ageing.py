"""Old facts are reported with what refreshes them, on whatever day; no run fails for them."""

from datetime import date, timedelta
from importlib.resources import files

import pytest

from spec.catalog import ageing, document

DAY = date(2026, 11, 21)
FILES = [path.name for path in (files("spec.catalog") / "data").iterdir()]


@pytest.mark.parametrize(("age", "old"), [(0, False), (365, False), (366, True), (4000, True)])
def test_a_fact_is_old_after_a_year(age: int, old: bool) -> None:
    found = ageing.aged("kubernetes.yaml", {"date": DAY}, DAY + timedelta(days=age))
    assert (found is not None) == old


def test_old_facts_are_counted_with_the_oldest_and_the_command_that_refreshes_them() -> None:
    entries = {"a": {"date": date(2025, 1, 2)}, "b": {"date": "2025-03-04"}, "c": {"date": date(2026, 9, 9)}}
    found = ageing.aged("prices-eu-west-1.yaml", {"prices": entries, "spot": {"date": DAY}}, DAY)
    assert str(found) == (
        "spec/catalog/data/prices-eu-west-1.yaml: 2 of 4 dates are more than 365 days ago, the first 2025-01-02. "
        "To refresh: `slipway prices refresh --region eu-west-1`, and by hand what it reports as kept."
    )


def test_a_date_that_has_not_come_is_reported() -> None:
    found = ageing.aged("gpus.yaml", {"date": date(2062, 11, 21)}, DAY)
    assert found is not None
    assert found.found == "1 of 1 dates are after 2026-11-21, the last 2062-11-21"


@pytest.mark.parametrize("name", FILES)
def test_every_data_file_becomes_old(name: str) -> None:
    assert ageing.aged(name, document.load(name), date(2100, 1, 1)) is not None


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("prices.yaml", "slipway prices refresh"),
        ("ec2-types.json", "python tools/refresh_catalog.py"),
        ("regions.json", "python tools/refresh_catalog.py"),
        ("mig.yaml", "`source`"),
        ("software.yaml", "slipway charts check --record"),
    ],
)
def test_each_file_has_its_way_to_be_refreshed(name: str, command: str) -> None:
    assert command in ageing.refresh(name)

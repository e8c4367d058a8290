import json
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from spec import catalog
from spec.catalog import ageing, document, instances, prices, regions
from spec.catalog.document import load
from spec.catalog.prices import Price
from tests.spec.catalog import facts
from tests.support import generated
from tests.support.price_book import BOOK

FILES = sorted(
    path.name for path in (files("spec.catalog") / "data").iterdir() if path.name.startswith("prices")
)  # fmt: skip


def price(usd: str, unit: str, per: int = 1) -> Price:
    return Price(Decimal(usd), unit, prices.SPOT.source, per)


@pytest.mark.parametrize("name", FILES)
def test_every_price_is_above_zero_with_source_and_day_or_has_a_reason(name: str) -> None:
    facts.check_book(prices.read(load(name)))


@pytest.mark.parametrize("name", FILES)
def test_no_price_is_of_another_unit_or_order_of_magnitude(name: str) -> None:
    facts.check_magnitude(prices.read(load(name)), BOOK)


def test_the_catalog_has_every_price_that_estimates_know() -> None:
    assert set(prices.PRICES) >= set(BOOK.prices)


def test_a_price_of_another_unit_is_noticed() -> None:
    throughput = BOOK.get("ebs-gp3-throughput")
    wrong = {**BOOK.prices, "ebs-gp3-throughput": replace(throughput, usd=throughput.usd * 1024)}
    with pytest.raises(AssertionError, match="ebs-gp3-throughput"):
        facts.check_magnitude(replace(BOOK, prices=wrong), BOOK)


def test_an_item_without_a_price_has_a_reason_and_is_not_zero() -> None:
    with pytest.raises(KeyError, match="offered for the requested dates"):
        prices.get("capacity-block")
    with pytest.raises(KeyError, match=r"it has .*\beks-cluster\b"):
        prices.get("gold")


def test_a_month_is_730_hours_and_monthly_prices_stay() -> None:
    assert price("0.10", "hour").monthly == Decimal("73.00")
    assert price("0.01", "zone-hour").monthly == Decimal("7.30")
    assert price("1.00", "month").monthly == Decimal("1.00")
    assert price("0.045", "hour").hourly == Decimal("0.045")


def test_a_price_for_many_units_is_divided() -> None:
    many = price("0.40", "request", 1_000_000)
    assert many.monthly == Decimal("0.40") / 1_000_000
    assert many.hourly == Decimal("0.40") / 1_000_000 / 730
    assert many.text == "0.40 USD for 1,000,000 requests"
    assert price("1.00", "month").text == "1.00 USD a month"


def test_a_small_price_is_written_without_an_exponent() -> None:
    assert price("0.0000004", "request").text == "0.0000004 USD a request"


def test_a_region_without_a_file_has_the_prices_of_another_and_says_whose() -> None:
    without = next(
        name for name in sorted(regions.REGIONS) if f"prices-{name}.yaml" not in FILES and name != prices.REGION
    )
    assert prices.book(without).region == prices.REGION
    assert prices.book(prices.REGION) is prices.HERE


def test_a_machine_costs_what_its_type_has_unless_the_file_says_more() -> None:
    book = replace(prices.HERE, on_demand={})
    found = book.instance("m7i.large")
    assert found is not None
    assert found.usd == instances.get("m7i.large").usd_per_hour
    assert book.instance("p5e.48xlarge") is None
    own = replace(book, on_demand={"m7i.large": prices.get("kms-key")})
    assert own.instance("m7i.large") == prices.get("kms-key")


# Old facts are reported with what refreshes them, on whatever day; no run fails for them.


DAY = date(2026, 11, 21)
DATED = [path.name for path in (files("spec.catalog") / "data").iterdir()]


@pytest.mark.parametrize(("age", "old"), [(0, False), (365, False), (366, True), (4000, True)])
def test_a_fact_is_old_after_a_year(age: int, old: bool) -> None:
    found = ageing.aged("kubernetes.yaml", {"date": DAY}, DAY + timedelta(days=age))
    assert (found is not None) == old


def test_old_facts_are_counted_with_the_oldest_and_the_command_that_refreshes_them() -> None:
    entries = {"a": {"date": date(2025, 1, 2)}, "b": {"date": "2025-03-04"}, "c": {"date": date(2026, 9, 9)}}
    found = ageing.aged("prices-eu-west-1.yaml", {"prices": entries, "spot": {"date": DAY}}, DAY)
    assert str(found) == (
        "spec/catalog/data/prices-eu-west-1.yaml: 2 of 4 dates are more than 365 days ago, the first 2025-01-02. "
        "To refresh: `slipway catalog prices --region eu-west-1`, and by hand what it reports as kept."
    )


def test_a_release_that_was_the_newest_on_a_later_day_is_as_old_as_that_look() -> None:
    row = {"date": date(2025, 1, 2), "newestOn": DAY}
    assert ageing.aged("software.yaml", {"katib": row}, DAY) is None
    assert ageing.aged("software.yaml", {"katib": row}, DAY + timedelta(days=366)) is not None


def test_a_date_that_has_not_come_is_reported() -> None:
    found = ageing.aged("gpus.yaml", {"date": date(2062, 11, 21)}, DAY)
    assert found is not None
    assert found.found == "1 of 1 dates are after 2026-11-21, the last 2062-11-21"


@pytest.mark.parametrize("name", DATED)
def test_every_data_file_becomes_old(name: str) -> None:
    assert ageing.aged(name, document.load(name), date(2100, 1, 1)) is not None


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("prices.yaml", "slipway catalog prices"),
        ("ec2-types.json", "python tools/refresh_catalog.py"),
        ("regions.json", "python tools/refresh_catalog.py"),
        ("mig.yaml", "`source`"),
        ("software.yaml", "slipway catalog check --record"),
    ],
)
def test_each_file_has_its_way_to_be_refreshed(name: str, command: str) -> None:
    assert command in ageing.refresh(name)


DOCUMENTS = sorted((Path(catalog.__file__).parent / "data").iterdir())


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_or_every_entry_in_it_has_source_and_date(path: Path) -> None:
    facts.check_sources(document.load(path.name))


def test_data_is_of_known_formats() -> None:
    assert {path.suffix for path in DOCUMENTS} == {".json", ".yaml"}
    for path in DOCUMENTS:
        if path.suffix == ".yaml":
            facts.check_lines(path)


def test_generated_data_has_what_fits_on_a_line_on_one() -> None:
    data = {"short": [1, {"a": None}], "long": ["x" * 60, "é" * 60], "none": {}}
    lines = document.laid_out(data).splitlines()
    assert [line.strip() for line in lines[1:3]] == ['"short": [1, {"a": null}],', '"long": [']
    assert json.loads("".join(lines)) == data


# The generated files are current with the installed packages.


Content = dict[str, str]


@pytest.fixture(scope="module")
def refresh_catalog() -> Any:
    """The tool, which imports moto's EC2: every worker that only collects this file would wait for that."""
    from tools import refresh_catalog  # noqa: PLC0415

    return refresh_catalog


@pytest.fixture(scope="module")
def content(refresh_catalog: Any) -> Content:
    """Content that the packages give, by file: read once, because it takes half a second (2026-11)."""
    return {"ec2-types.json": refresh_catalog.instance_types(), "regions.json": refresh_catalog.regions()}


@pytest.mark.parametrize("name", ["ec2-types.json", "regions.json"])
def test_committed_files_are_current(refresh_catalog: Any, content: Content, name: str) -> None:
    generated.check(refresh_catalog.DATA / name, content[name], generated.CATALOG)


def test_check_reports_stale_files_and_a_run_updates_them(
    refresh_catalog: Any,
    content: Content,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(refresh_catalog, "DATA", tmp_path)
    monkeypatch.setattr(refresh_catalog, "instance_types", lambda: content["ec2-types.json"])
    monkeypatch.setattr(refresh_catalog, "regions", lambda: content["regions.json"])

    assert refresh_catalog.main(["--check"]) == 1
    assert "stale: ec2-types.json, regions.json" in capsys.readouterr().out
    assert refresh_catalog.main([]) == 0
    assert refresh_catalog.main(["--check"]) == 0
    assert json.loads((tmp_path / "ec2-types.json").read_text())["date"] >= "2026-09-30"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == content

from dataclasses import replace
from decimal import Decimal
from importlib.resources import files

import pytest

from spec.catalog import instances, prices, regions
from spec.catalog.document import load
from spec.catalog.prices import Price
from tests.spec.catalog import facts
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

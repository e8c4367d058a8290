from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from spec.catalog import instances, prices


@pytest.mark.parametrize(
    ("name", "usd", "unit"),
    [
        ("eks-cluster", "0.10", "hour"),
        ("eks-cluster-extended", "0.60", "hour"),
        ("nat-gateway", "0.045", "hour"),
        ("nat-gateway-data", "0.045", "GB"),
        ("interface-endpoint", "0.01", "zone-hour"),
        ("interface-endpoint-data", "0.01", "GB"),
        ("public-ipv4", "0.005", "hour"),
        ("ebs-gp3", "0.08", "GB-month"),
        ("kms-key", "1.00", "month"),
        ("logs-ingested", "0.50", "GB"),
    ],
)
def test_prices_are_those_of_the_price_list(name: str, usd: str, unit: str) -> None:
    assert prices.get(name).usd == Decimal(usd)
    assert prices.get(name).unit == unit


def test_every_price_is_above_zero_with_source_and_day() -> None:
    for name, price in prices.PRICES.items():
        assert price.usd > 0, name
        assert price.source.text, name
        assert date(2026, 1, 1) <= price.source.day <= date(2026, 11, 21), name


def test_an_item_without_a_price_has_a_reason_and_is_not_zero() -> None:
    assert not set(prices.UNPRICED) & set(prices.PRICES)
    with pytest.raises(KeyError, match="offered for the requested dates"):
        prices.get("capacity-block")
    with pytest.raises(KeyError, match="it has eks-cluster"):
        prices.get("gold")


def test_a_month_is_730_hours_and_monthly_prices_stay() -> None:
    assert prices.get("eks-cluster").monthly == Decimal("73.00")
    assert prices.get("interface-endpoint").monthly == Decimal("7.30")
    assert prices.get("kms-key").monthly == Decimal("1.00")


def test_a_price_for_many_units_is_divided() -> None:
    price = prices.get("sqs-request")
    assert price.monthly == Decimal("0.40") / 1_000_000
    assert price.hourly == Decimal("0.40") / 1_000_000 / 730
    assert price.text == "0.40 USD for 1,000,000 requests"
    assert prices.get("nat-gateway").hourly == Decimal("0.045")
    assert prices.get("kms-key").text == "1.00 USD a month"


def test_a_region_without_a_file_has_the_prices_of_another_and_names_it() -> None:
    assert prices.book("eu-west-1").region == prices.REGION
    assert prices.book(prices.REGION) is prices.HERE


def test_an_instance_has_the_price_of_its_type_unless_the_file_has_one() -> None:
    price_of_type = prices.HERE.instance("m7i.large")
    assert price_of_type is not None
    assert price_of_type.usd == instances.get("m7i.large").usd_per_hour
    assert prices.HERE.instance("p5e.48xlarge") is None
    own = replace(prices.HERE, on_demand={"m7i.large": prices.get("kms-key")})
    assert own.instance("m7i.large") == prices.get("kms-key")


def test_spot_discounts_are_those_of_the_source() -> None:
    shares = prices.SPOT.types.values()

    assert (prices.SPOT.low, prices.SPOT.high) == (min(shares), max(shares))
    assert all(instances.get(name).gpus for name in prices.SPOT.types)
    assert all("spot" in instances.get(name).markets for name in prices.SPOT.types)

"""Cost of pools: types, markets, volumes, hours."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from spec.catalog import prices
from spec.pricing import Estimate, estimate, services
from spec.pricing.pools import average, share_on
from spec.settings.cost import PoolUse, Schedule
from tests.spec.pricing.by_hand import line, usd
from tests.spec.settings.stack import loaded
from tests.support.day import TODAY

MONTH = Decimal(730)
CENT = Decimal("0.01")


def of(changes: dict[str, Any]) -> Estimate:
    return estimate(loaded(changes).platform, TODAY)


def test_a_pool_of_several_types_costs_from_its_lowest_to_its_highest_price() -> None:
    one = line(of({}), services.EC2, "nodes", "system")
    prices_of = [usd(name) for name in ("m7i.large", "m6i.large", "m7a.large")]
    assert (one.floor, one.ceiling) == (2 * min(prices_of), 3 * max(prices_of))


def test_a_managed_pool_is_expected_on_its_first_type_and_karpenters_on_its_lowest_priced() -> None:
    assert line(of({}), services.EC2, "nodes", "system").usual == usd("m7i.large") > usd("m6i.large")
    assert line(of({}), services.EC2, "nodes", "cpu").usual == usd("m7i.xlarge")
    declared = {"cost.usage.pools.cpu": {"nodes": 1, "instanceType": "m7i.2xlarge"}}
    assert line(of(declared), services.EC2, "nodes", "cpu").expected == usd("m7i.2xlarge")


def test_spot_is_priced_by_the_declared_range_of_discounts() -> None:
    one = line(of({}), services.EC2, "nodes", "l4")
    assert one.floor == 0
    assert one.low == usd("g6.xlarge") * (1 - prices.SPOT.high)
    assert one.usual == usd("g6.xlarge") * (1 - (prices.SPOT.low + prices.SPOT.high) / 2)
    assert one.ceiling == 8 * usd("g6.8xlarge") * (1 - prices.SPOT.low)
    assert one.source == prices.SPOT.source


@pytest.mark.parametrize("percent", [20, 50, 80])
def test_a_declared_discount_is_the_expected_one_and_widens_the_range(percent: int) -> None:
    one = line(of({"cost.usage.spotDiscountPercent": percent}), services.EC2, "nodes", "l4")
    assert one.usual == usd("g6.xlarge") * (1 - Decimal(percent) / 100)
    assert one.low <= one.usual <= one.high


def test_volumes_are_billed_beyond_what_gp3_includes() -> None:
    result = of({"pools.system.disk": {"sizeGib": 100, "iops": 4000, "throughputMibps": 225}})
    wanted = {
        "volumes of nodes": 2 * 100 * Decimal("0.08"),
        "IOPS above 3000": 2 * 1000 * Decimal("0.005"),
        "throughput above 125 MiB/s": 2 * 100 * Decimal("0.04"),
    }
    for item, monthly in wanted.items():
        assert (line(result, services.EBS, item, "system").floor * MONTH).quantize(CENT) == monthly.quantize(CENT)


def test_machines_with_gpus_have_detailed_monitoring_and_others_not() -> None:
    result = of({})
    one = line(result, services.CLOUDWATCH, "detailed monitoring of nodes", "l4")
    assert (one.ceiling * MONTH).quantize(CENT) == 8 * 7 * Decimal("0.30")
    assert {each.pool for each in result.lines if each.service == services.CLOUDWATCH} == {"a100", "h100", "l4"}


def test_use_is_nodes_by_hours_of_a_week() -> None:
    use = {"nodes": 2, "hoursPerWeekday": 10, "hoursPerWeekendDay": 3}
    one = line(of({"cost.usage.pools.l4": use}), services.EC2, "nodes", "l4")
    assert one.typical == 2 * (5 * 10 + 2 * 3) / Decimal(168)
    assert one.minimum == 0
    assert one.maximum == 8


def test_a_pool_without_declared_use_is_expected_at_its_minimum_and_noted() -> None:
    one = line(of({}), services.EC2, "nodes", "cpu")
    assert one.typical == one.minimum
    assert "no use declared" in one.note


NIGHTS = {"stop": "0 20 * * MON-FRI", "start": "0 8 * * MON-FRI", "pools": ["work"]}
WORK = {
    "role": "general",
    "provisioner": "managed",
    "instanceTypes": ["m7i.large"],
    "min": 2,
    "max": 4,
}


def test_a_schedule_lowers_floor_and_expected_cost_but_not_the_ceiling() -> None:
    one = line(of({"pools.work": WORK, "cost.schedules": {"nights": NIGHTS}}), services.EC2, "nodes", "work")
    # From 8 to 20 on five days: 60 of 168 hours.
    assert one.minimum == one.typical == 2 * Decimal(60) / Decimal(168)
    assert one.maximum == 4


@pytest.mark.parametrize(
    ("stop", "start", "share"),
    [
        ("0 20 * * MON-FRI", "0 8 * * MON-FRI", Fraction(60, 168)),
        ("0 20 * * FRI", "0 8 * * MON", Fraction(108, 168)),
        ("0 20 * * *", "0 8 * * *", Fraction(12, 24)),
        ("30 17 * * 1-5", "*/30 9 * * 1-5", Fraction(85, 336)),
        ("0 0 * * SAT", "0 0 * * MON", Fraction(120, 168)),
    ],
)
def test_hours_between_start_and_stop(stop: str, start: str, share: Fraction) -> None:
    result = share_on("work", {"nights": Schedule(stop=stop, start=start, pools=("work",))})
    assert abs(result - share) < Fraction(1, 1000)
    assert share_on("other", {"nights": Schedule(stop=stop, start=start, pools=("work",))}) == 1


def test_use_never_exceeds_the_hours_that_a_schedule_leaves() -> None:
    always = PoolUse(nodes=4)
    assert average(2, always, Fraction(1, 2)) == 2
    assert average(2, always, Fraction(1)) == 4

"""Floors and ceilings are those that one gets by hand, and what has no price is named."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from infra.catalog import instances, prices
from slipway.cost import Estimate, Line, estimate
from tests.infra.config.stack import TODAY, loaded


def of(changes: dict[str, Any], today: date = TODAY) -> Estimate:
    return estimate(loaded(changes).platform, today)


def line(found: Estimate, start: str) -> Line:
    (one,) = (line for line in found.lines if line.what.startswith(start))
    return one


def unpriced(found: Estimate) -> str:
    return "\n".join(f"{item.what}: {item.why}" for item in found.unpriced)


def usd(name: str) -> Decimal:
    price = instances.get(name).usd_per_hour
    assert price is not None
    return price


def test_totals_are_the_sums_of_the_lines() -> None:
    found = of({})
    assert found.floor == sum(one.least * one.low for one in found.lines)
    assert found.ceiling == sum(one.most * one.high for one in found.lines)
    assert Decimal(0) < found.floor < found.ceiling


def test_a_small_stack_by_hand() -> None:
    found = of({"pools": {"system": {"preset": "system", "instanceTypes": ["m7i.large"]}}})
    month = Decimal(730)
    fixed = Decimal("0.10") + Decimal("0.045") + Decimal("0.005") + 2 * Decimal("1.00") / month
    node = usd("m7i.large") + 50 * Decimal("0.08") / month
    assert found.floor.quantize(Decimal("1e-9")) == (fixed + 2 * node).quantize(Decimal("1e-9"))
    most = fixed + 4 * Decimal("1.00") / month + 3 * node
    assert found.ceiling.quantize(Decimal("1e-9")) == most.quantize(Decimal("1e-9"))


def test_every_line_has_a_dated_price_above_zero() -> None:
    for one in of({}).lines:
        assert one.low > 0, one
        assert one.low <= one.high
        assert 0 <= one.least <= one.most
        assert one.most > 0
        assert one.source.text
        assert date(2025, 1, 1) < one.source.day <= TODAY


@pytest.mark.parametrize(("nat", "gateways"), [("single", 1), ("per-zone", 2)])
def test_nat_gateways_are_counted_with_their_addresses(nat: str, gateways: int) -> None:
    found = of({"network.nat": nat})
    assert line(found, "NAT gateways").least == line(found, "NAT gateways").most == gateways
    assert line(found, "public addresses").most == gateways


def test_endpoints_are_billed_in_every_zone() -> None:
    found = of({"network.endpoints": ["ecr.api", "ecr.dkr", "sts"]})
    assert line(found, "interface endpoints").floor == 6 * Decimal("0.01")
    assert "interface endpoints" not in unpriced(of({}))


@pytest.mark.parametrize(
    ("support", "today", "hourly"),
    [
        ("standard", date(2026, 11, 21), "0.10"),
        ("extended", date(2026, 11, 21), "0.10"),
        ("extended", date(2027, 4, 1), "0.60"),
        ("standard", date(2027, 4, 1), "0.10"),
    ],
)
def test_extended_support_costs_from_its_first_day(support: str, today: date, hourly: str) -> None:
    assert line(of({"cluster.support": support}, today), "EKS control plane").floor == Decimal(hourly)


def test_a_pool_of_several_types_runs_between_its_cheapest_and_its_dearest() -> None:
    one = line(of({}), "pool system: on-demand nodes")
    prices_of = [usd(name) for name in ("m7i.large", "m6i.large", "m7a.large")]
    assert (one.floor, one.ceiling) == (2 * min(prices_of), 3 * max(prices_of))


def test_spot_is_priced_by_the_declared_range_of_discounts() -> None:
    one = line(of({}), "pool l4: spot nodes")
    assert one.floor == 0
    assert one.low == usd("g6.xlarge") * (1 - prices.SPOT.high)
    assert one.ceiling == 8 * usd("g6.8xlarge") * (1 - prices.SPOT.low)
    assert one.source == prices.SPOT.source


def test_volumes_are_billed_above_what_gp3_has_for_nothing() -> None:
    disk = {"sizeGib": 100, "iops": 4000, "throughputMibps": 225}
    found = of({"pools.system.disk": disk})
    month = Decimal(730)
    assert line(found, "pool system: volumes, GB").floor == 2 * 100 * (Decimal("0.08") / month)
    assert line(found, "pool system: volumes, IOPS").floor == 2 * 1000 * (Decimal("0.005") / month)
    assert line(found, "pool system: volumes, MiB/s").floor == 2 * 100 * (Decimal("0.04") / month)


RESERVED = {"market": "reserved", "reservation": {"kind": "capacity-block", "id": "cr-0a1b2c3d4e5f67890"}}


def test_a_capacity_block_is_unpriced_and_not_free() -> None:
    found = of({"pools.h100.capacity": RESERVED})
    assert "pool h100: 2 nodes of a Capacity Block: paid in advance" in unpriced(found)
    assert not [one for one in found.lines if one.what.startswith("pool h100: reserved")]


def test_a_reservation_is_billed_for_what_runs_and_the_rest_is_named() -> None:
    odcr = {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}}
    found = of({"pools.h100.capacity": odcr})
    assert line(found, "pool h100: reserved nodes").ceiling == 2 * usd("p5.48xlarge")
    assert "pool h100: reserved nodes that do not run" in unpriced(found)


def test_a_type_without_a_price_is_named_and_promises_no_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = instances.get("m7a.large")
    unknown = type(kind)(**{**vars(kind), "usd_per_hour": None})
    monkeypatch.setattr(instances, "ALL", {**instances.ALL, "m7a.large": unknown})
    found = of({})
    assert "pool system: up to 3 nodes of m7a.large" in unpriced(found)
    assert line(found, "pool system: on-demand nodes").floor == 0


def test_what_depends_on_use_is_named_only_where_it_can_occur() -> None:
    quiet = of(
        {
            "network.nat": "none",
            "network.endpoints": ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts"],
            "network.flowLogs": {"enabled": False},
            "pools": {"system": {"preset": "system"}},
        }
    )
    assert "NAT" not in unpriced(quiet)
    assert "flow logs" not in unpriced(quiet)
    assert "queue" not in unpriced(quiet)
    assert line(quiet, "KMS keys for").least == 1
    assert "by use: 0.045 USD a GB" in unpriced(of({}))


def test_an_estimate_is_the_same_twice() -> None:
    assert of({}) == of({})

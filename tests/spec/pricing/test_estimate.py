"""Floor, expected cost and ceiling equal those computed by hand, and unpriced items are listed."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from spec.catalog import instances, prices
from spec.pools import resolve_all
from spec.pricing import Estimate, Line, estimate, services
from spec.pricing.estimate import bill_facts, premium
from spec.pricing.pods import device_prices, job_usd, nodes_for
from spec.pricing.pools import average, share_on
from spec.settings import load, read_stack
from spec.settings.cost import Limits, PoolUse, Schedule
from tests.spec.pricing.by_hand import line, unpriced, usd
from tests.spec.settings.stack import loaded
from tests.support.day import TODAY


def of(changes: dict[str, Any], today: date = TODAY) -> Estimate:
    return estimate(loaded(changes).platform, today)


def test_totals_are_the_sums_of_the_lines() -> None:
    result = of({})
    assert result.floor == sum(one.minimum * one.low for one in result.lines)
    assert result.expected == sum(one.typical * one.usual for one in result.lines)
    assert result.ceiling == sum(one.maximum * one.high for one in result.lines)
    assert Decimal(0) < result.floor <= result.expected < result.ceiling


def test_a_small_stack_by_hand() -> None:
    result = of({"pools": {"system": {"preset": "system", "instanceTypes": ["m7i.large"]}}})
    month = Decimal(730)
    fixed = Decimal("0.10") + Decimal("0.045") + Decimal("0.005") + 3 * Decimal("1.00") / month
    node = usd("m7i.large") + 50 * Decimal("0.08") / month
    assert result.floor.quantize(Decimal("1e-9")) == (fixed + 2 * node).quantize(Decimal("1e-9"))
    maximum = fixed + 6 * Decimal("1.00") / month + 3 * node
    assert result.ceiling.quantize(Decimal("1e-9")) == maximum.quantize(Decimal("1e-9"))


def test_every_line_has_a_dated_price_above_zero_and_a_known_service() -> None:
    for one in of({"cost.usage": {"natGib": 5, "pools": {"l4": {"nodes": 3}}}}).lines:
        assert one.low > 0, one
        assert one.low <= one.usual <= one.high, one
        assert 0 <= one.minimum <= one.typical <= one.maximum, one
        assert one.maximum > 0, one
        assert one.source.text
        assert one.source.day > date(2025, 1, 1)
        assert one.service in services.ALL


def test_every_line_has_a_key_of_its_own() -> None:
    keys = [one.key for one in of({}).lines]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(("nat", "gateways"), [("single", 1), ("per-zone", 2)])
def test_nat_gateways_are_counted_with_their_addresses(nat: str, gateways: int) -> None:
    result = of({"network.nat": nat})
    assert line(result, services.NAT, "gateways").minimum == line(result, services.NAT, "gateways").maximum == gateways
    assert line(result, services.ADDRESSES, "of NAT gateways").maximum == gateways


def test_endpoints_are_billed_in_every_zone() -> None:
    result = of({"network.endpoints": ["ecr.api", "ecr.dkr", "sts"]})
    assert line(result, services.ENDPOINTS, "interface endpoints").floor == 6 * Decimal("0.01")
    assert "interface endpoints" not in unpriced(of({}))


@pytest.mark.parametrize(("support", "today", "hourly"), [
    ("standard", date(2026, 11, 21), "0.10"),
    ("extended", date(2026, 11, 21), "0.10"),
    ("extended", date(2027, 4, 1), "0.60"),
    ("standard", date(2027, 4, 1), "0.10"),
])  # fmt: skip
def test_extended_support_costs_from_its_first_day(support: str, today: date, hourly: str) -> None:
    assert line(of({"cluster.supportType": support}, today), services.EKS, "control plane").floor == Decimal(hourly)


def test_the_tier_of_a_control_plane_is_billed_beside_the_cluster_or_named() -> None:
    item = "capacity of the control plane"
    assert line(of({"cluster.scalingTier": "tier-xl"}), services.EKS, item).floor == Decimal("1.65")
    assert item in unpriced(of({"cluster.scalingTier": "tier-4xl"}))
    assert of({"cluster.scalingTier": "standard"}) == of({})


def test_every_kms_key_of_the_program_is_billed() -> None:
    quiet = {"network.flowLogs": {"enabled": False}}
    assert line(of(quiet), services.KMS, "keys").maximum == 2
    notified = {**quiet, "notifications.emails": ["ml@example.com"]}
    assert line(of(notified), services.KMS, "keys").maximum == 3
    assert line(of(notified), services.KMS, "rotated keys").maximum == 6


def test_backups_of_shared_files_are_billed_if_enabled() -> None:
    use = {"cost.usage.efs": {"standardGib": 90, "infrequentGib": 10}}
    kept = line(of({"storage.efs": {}, **use}), services.BACKUP, "of shared files")
    assert kept.amounts.month.expected.quantize(Decimal("0.01")) == Decimal("5.00")
    assert not [one for one in of({"storage.efs": {"backup": False}, **use}).lines if one.service == services.BACKUP]


def test_a_capacity_block_is_unpriced_until_its_price_is_declared() -> None:
    days = {"startDate": "2026-11-16", "endDate": "2026-11-30"}
    reserved = {"market": "reserved", "reservation": {"kind": "capacity-block", "id": "cr-0a1b2c3d4e5f67890", **days}}
    result = of({"pools.h100.capacity": reserved})
    assert "pool h100: 2 nodes of a Capacity Block: paid in advance" in unpriced(result)
    declared = {"nodes": 1, "usdPerNodeHour": 31.46}
    day = date(2027, 1, 5)
    both = of({"pools.h100.capacity": reserved, "cost.usage.pools.h100": declared}, day)
    paid = line(both, services.EC2, "nodes", "h100")
    # Both nodes are billed, whether they run or not.
    assert paid.floor == paid.expected == paid.ceiling == Decimal("62.92")
    assert "stack file" in paid.source.text
    assert paid.source.day == day


def test_a_reservation_is_billed_for_running_nodes_and_the_rest_is_unpriced() -> None:
    odcr = {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}}
    result = of({"pools.h100.capacity": odcr})
    assert line(result, services.EC2, "nodes", "h100").ceiling == 2 * usd("p5.48xlarge")
    assert "pool h100: reserved nodes that do not run" in unpriced(result)


def test_a_type_without_a_price_is_unpriced_and_has_no_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = instances.get("m7a.large")
    unknown = type(kind)(**{**vars(kind), "usd_per_hour": None})
    monkeypatch.setattr(instances, "ALL", {**instances.ALL, "m7a.large": unknown})
    result = of({})
    assert "pool system: up to 3 nodes of m7a.large" in unpriced(result)
    assert line(result, services.EC2, "nodes", "system").floor == 0


def test_a_standby_doubles_the_price_and_storage_may_grow() -> None:
    small: dict[str, Any] = {"allocatedStorage": 20, "maxAllocatedStorage": 100}
    for standby, copies in ((False, 1), (True, 2)):
        result = of({"addons.mlflow": {"database": {**small, "multiAz": standby}}})
        assert line(result, services.RDS, "database mlflow").floor == copies * Decimal("0.065")
        storage = line(result, services.RDS, "storage of database mlflow").amounts.month
        assert storage.floor.quantize(Decimal("0.01")) == copies * 20 * Decimal("0.115")
        assert storage.ceiling.quantize(Decimal("0.01")) == copies * 100 * Decimal("0.115")


def test_a_load_balancer_costs_its_hours_its_units_and_its_addresses() -> None:
    result = of(
        {"cost.usage.loadBalancers": {"models": {"capacityUnits": 4, "public": True}, "tcp": {"kind": "network"}}}
    )
    hourly = result.by_service()[services.BALANCERS]
    assert hourly.expected == Decimal("0.0225") * 2 + 4 * Decimal("0.008") + Decimal("0.006")
    assert hourly.floor == 0
    assert line(result, services.ADDRESSES, "of load balancer models").expected == 2 * Decimal("0.005")


def test_data_between_zones_is_billed_at_both_ends() -> None:
    result = of({"cost.usage.transfer": {"betweenZonesGib": 1000}})
    assert line(result, services.TRANSFER, "between zones").amounts.month.expected.quantize(Decimal("0.01")) == 20


def test_logs_of_containers_are_billed_by_the_gb_in_cloudwatch_and_not_in_s3() -> None:
    item = "container logs written"
    result = of({"addons.fluentBit": {}, "cost.usage.containerLogsGib": 100})
    billed = line(result, services.CLOUDWATCH, item)
    assert billed.minimum == 0
    assert billed.typical == 100
    assert any(item in one.what for one in of({"addons.fluentBit": {}}).unpriced)
    elsewhere = of({"addons.fluentBit": {"destination": "s3"}})
    assert not any(
        item in text for text in (*(one.key for one in elsewhere.lines), *(one.what for one in elsewhere.unpriced))
    )


def test_billing_by_use_is_listed_only_where_it_can_occur() -> None:
    quiet = of(
        {
            "network.nat": "none",
            "network.endpoints": ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts"],
            "network.flowLogs": {"enabled": False},
            "pools": {"system": {"preset": "system"}},
        }
    )
    for absent in ("NAT", "flow logs", "interruption", "EFS", "load balancers", "database"):
        assert absent not in unpriced(quiet), absent
    assert "by use: 0.045 USD a GB; declare cost.usage.natGib" in unpriced(of({}))
    assert "by use: 0.40 USD for 1,000,000 requests" in unpriced(of({}))


def test_an_item_without_a_price_in_the_catalog_is_unpriced(monkeypatch: pytest.MonkeyPatch) -> None:
    without = {name: price for name, price in prices.PRICES.items() if name != "fsx-lustre-scratch-2"}
    book = type(prices.HERE)(**{**vars(prices.HERE), "prices": without})
    monkeypatch.setattr(prices, "book", lambda _: book)
    result = of({"storage.lustre": {"deploymentType": "SCRATCH_2"}})
    assert "FSx: Lustre file system" in unpriced(result)
    assert not [one for one in result.lines if one.service == services.FSX]


def test_an_estimate_is_the_same_twice() -> None:
    assert of({}) == of({})


def test_sums_by_group_add_up_to_the_whole() -> None:
    result: Estimate = of({"teams": TEAMS})
    whole = result.amounts
    for groups in (result.by_service(), result.by_pool(), result.by_team()):
        for name in ("floor", "expected", "ceiling"):
            total = sum((getattr(amounts, name) for amounts in groups.values()), Decimal(0))
            assert abs(total - getattr(whole, name)) < Decimal("1e-15")


TEAMS: dict[str, Any] = {
    "vision": {"project": "a", "costCenter": "b",
        "members": {"people": {"principalArn": "arn:aws:iam::111122223333:role/vision"}},
        "gpus": {"l4": {"nominalQuota": 2}}},
    "language": {"project": "a", "costCenter": "b",
        "members": {"people": {"principalArn": "arn:aws:iam::111122223333:role/language"}},
        "gpus": {"l4": {"nominalQuota": 1}}, "cpus": {"cpu": {"nominalQuota": 8}}},
}  # fmt: skip


def test_a_pool_is_allocated_to_teams_by_nominal_quota_and_the_rest_to_the_platform() -> None:
    result = of({"teams": TEAMS})
    nodes: Line = line(result, services.EC2, "nodes", "l4")
    assert dict(nodes.shares) == {"vision": pytest.approx(2 / 3), "language": pytest.approx(1 / 3)}
    assert line(result, services.EC2, "nodes", "cpu").team == "language"
    assert line(result, services.EC2, "nodes", "system").shares == ()
    assert nodes.team is None
    pools = result.by_pool()
    vision = pools["l4"].ceiling * 2 / 3
    assert abs(result.by_team()["vision"].ceiling - vision) < Decimal("1e-9")


STACKS = Path(__file__).resolve().parents[3] / "stacks"
LIMITS = Limits.model_validate_json(
    '{"ceilingUsdPerHour": 60, "premium": {"a100": {"reference": "plan", "until": "2027-06-30"}}}'
)


@pytest.mark.parametrize(("stack", "pools"), [("dev", {"a100", "h100"}), ("prod", {"a100"})])
def test_premium_pools_run_the_most_expensive_types_on_demand(stack: str, pools: set[str]) -> None:
    platform = load(read_stack(stack, STACKS), stack=stack).platform
    assert set(premium(resolve_all(platform).values())) == pools


def test_a_bill_has_plain_values_rounded_to_the_cent() -> None:
    bill = bill_facts(
        floor=Decimal("0.3561"),
        expected=Decimal(5),
        ceiling=Decimal("46.476"),
        pools={"b": Decimal("1.005"), "a": Decimal(2)},
        specs={},
        limits=LIMITS,
    )
    assert bill == {"floorUsdPerHour": 0.36, "expectedUsdPerHour": 5.0, "ceilingUsdPerHour": 46.48,
        "pools": {"a": 2.0, "b": 1.0}, "premiumOnDemand": [], "limits": {"ceilingUsdPerHour": 60.0, "pools": {},
            "premium": {"a100": {"reference": "plan", "until": "2027-06-30"}}}}  # fmt: skip
    assert list(bill["pools"]) == ["a", "b"]


# Cost of pools: types, markets, volumes, hours.


MONTH = Decimal(730)
CENT = Decimal("0.01")


def of_pools(changes: dict[str, Any]) -> Estimate:
    return estimate(loaded(changes).platform, TODAY)


def test_a_pool_of_several_types_costs_from_its_lowest_to_its_highest_price() -> None:
    one = line(of_pools({}), services.EC2, "nodes", "system")
    prices_of = [usd(name) for name in ("m7i.large", "m6i.large", "m7a.large")]
    assert (one.floor, one.ceiling) == (2 * min(prices_of), 3 * max(prices_of))


def test_a_managed_pool_is_expected_on_its_first_type_and_karpenters_on_its_lowest_priced() -> None:
    assert line(of_pools({}), services.EC2, "nodes", "system").usual == usd("m7i.large") > usd("m6i.large")
    assert line(of_pools({}), services.EC2, "nodes", "cpu").usual == usd("m7i.xlarge")
    declared = {"cost.usage.pools.cpu": {"nodes": 1, "instanceType": "m7i.2xlarge"}}
    assert line(of_pools(declared), services.EC2, "nodes", "cpu").expected == usd("m7i.2xlarge")


def test_spot_is_priced_by_the_declared_range_of_discounts() -> None:
    one = line(of_pools({}), services.EC2, "nodes", "l4")
    assert one.floor == 0
    assert one.low == usd("g6.xlarge") * (1 - prices.SPOT.high)
    assert one.usual == usd("g6.xlarge") * (1 - (prices.SPOT.low + prices.SPOT.high) / 2)
    assert one.ceiling == 8 * usd("g6.8xlarge") * (1 - prices.SPOT.low)
    assert one.source == prices.SPOT.source


@pytest.mark.parametrize("percent", [20, 50, 80])
def test_a_declared_discount_is_the_expected_one_and_widens_the_range(percent: int) -> None:
    one = line(of_pools({"cost.usage.spotDiscountPercent": percent}), services.EC2, "nodes", "l4")
    assert one.usual == usd("g6.xlarge") * (1 - Decimal(percent) / 100)
    assert one.low <= one.usual <= one.high


def test_volumes_are_billed_beyond_what_gp3_includes() -> None:
    result = of_pools({"pools.system.disk": {"sizeGib": 100, "iops": 4000, "throughputMibps": 225}})
    wanted = {
        "volumes of nodes": 2 * 100 * Decimal("0.08"),
        "IOPS above 3000": 2 * 1000 * Decimal("0.005"),
        "throughput above 125 MiB/s": 2 * 100 * Decimal("0.04"),
    }
    for item, monthly in wanted.items():
        assert (line(result, services.EBS, item, "system").floor * MONTH).quantize(CENT) == monthly.quantize(CENT)


def test_machines_with_gpus_have_detailed_monitoring_and_others_not() -> None:
    result = of_pools({})
    one = line(result, services.CLOUDWATCH, "detailed monitoring of nodes", "l4")
    assert (one.ceiling * MONTH).quantize(CENT) == 8 * 7 * Decimal("0.30")
    assert {each.pool for each in result.lines if each.service == services.CLOUDWATCH} == {"a100", "h100", "l4"}


def test_use_is_nodes_by_hours_of_a_week() -> None:
    use = {"nodes": 2, "hoursPerWeekday": 10, "hoursPerWeekendDay": 3}
    one = line(of_pools({"cost.usage.pools.l4": use}), services.EC2, "nodes", "l4")
    assert one.typical == 2 * (5 * 10 + 2 * 3) / Decimal(168)
    assert one.minimum == 0
    assert one.maximum == 8


def test_a_pool_without_declared_use_is_expected_at_its_minimum_and_noted() -> None:
    one = line(of_pools({}), services.EC2, "nodes", "cpu")
    assert one.typical == one.minimum
    assert "no use declared" in one.note


NIGHTS = {"stop": "0 20 * * MON-FRI", "start": "0 8 * * MON-FRI", "pools": ["work"]}
WORK = {"role": "general", "provisioner": "managed", "instanceTypes": ["m7i.large"], "min": 2, "max": 4}


def test_a_schedule_lowers_floor_and_expected_cost_but_not_the_ceiling() -> None:
    one = line(of_pools({"pools.work": WORK, "cost.schedules": {"nights": NIGHTS}}), services.EC2, "nodes", "work")
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


def test_a_gpu_costs_its_part_of_the_node_and_an_instance_its_compute_slices() -> None:
    pools: dict[str, dict[str, Any]] = {
        "system": {"preset": "system"},
        "whole": {"preset": "h100", "instanceTypes": ["p5.48xlarge"]},
        "slices": {"preset": "a100", "mig": {"layout": "all-balanced"}},
        "shared": {"preset": "gpu-spot", "instanceTypes": ["g6.2xlarge"], "capacity": {"market": "on-demand"}},
    }
    pools["shared"]["sharing"] = {"mode": "time-slicing", "replicas": 4}
    found = device_prices(loaded({"pools": pools}).platform)
    a100, l4, h100 = usd("p4d.24xlarge"), usd("g6.2xlarge"), usd("p5.48xlarge")
    # all-balanced: 2 of 1g, 1 of 2g and 1 of 3g on each of eight GPUs, of which the seventh slice of each is used.
    assert found == {
        "whole": {"nvidia.com/gpu": round(h100 * 1000 / 8)},
        "slices": {
            f"nvidia.com/mig-{size}g.{size * 5 if size < 3 else 20}gb": round(a100 * 1000 * size / (8 * 7))
            for size in (1, 2, 3)
        },
        "shared": {"nvidia.com/gpu": round(l4 * 1000 / 4)},
    }


def test_one_job_of_a_team_costs_at_most_its_bound_else_a_tenth_of_its_budget_else_three_days_of_its_gpus() -> None:
    gpus = {"a100": {"nominalQuota": 6}}
    team = {"project": "a", "costCenter": "b", "gpus": gpus}
    wanted = {"tenth": {"budgetUsd": 100}, "given": {"budgetUsd": 100, "jobUsd": 70}, "least": {"budgetUsd": 9}}
    none = {"project": "a", "costCenter": "b", "cpus": {"cpu": {"nominalQuota": 4}}}
    teams = {**{name: {**team, **more} for name, more in wanted.items()}, "shares": team, "none": none}
    days = int(72 * 6 * usd("p4d.24xlarge") / 8) + 1
    assert job_usd(loaded({"teams": teams, "pools.a100.max": 8}).platform) == {
        "tenth": 10, "given": 70, "least": 1, "shares": days
    }  # fmt: skip


@pytest.mark.parametrize(("cpu", "kind", "nodes"), [(2, "m7i.xlarge", 4), (6, "m7i.4xlarge", 2)])
def test_pods_get_the_cheapest_node_that_has_their_cpu(cpu: int, kind: str, nodes: int) -> None:
    pool = {"preset": "cpu", "instanceTypes": ["m7i.xlarge", "m7i.4xlarge"]}
    platform = loaded({"pools.cpu": pool}).platform
    wanted = {"cpu": Decimal(cpu), "memory": Decimal(2**30)}
    node, count = nodes_for(resolve_all(platform)["cpu"], platform, [(wanted, 4)])
    assert (node.kind, count) == (kind, nodes)

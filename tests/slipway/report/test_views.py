"""The report matches the settings and the program."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from policies.runner import Finding
from policies.suppressions import Suppression
from slipway.report.model import PoolView
from slipway.report.views import cost, inventory, layout, risks
from slipway.report.views import inventory as team_views
from spec.pools.resolution import resolve_all
from spec.pricing import estimate
from tests.slipway.report.conftest import SampleReport
from tests.spec.settings.stack import loaded
from tests.support import price_book
from tests.support.day import TODAY

pytestmark = pytest.mark.xdist_group("report")


def pool_views(changes: dict[str, Any]) -> dict[str, PoolView]:
    platform = loaded(changes).platform
    views = inventory.pools(resolve_all(platform).values(), estimate(platform, TODAY))
    return {pool.name: pool for pool in views}


def test_a_pool_has_the_gpus_of_its_nodes() -> None:
    pool = pool_views({"pools.a100": {"preset": "a100", "provisioner": "managed", "min": 1, "max": 3}})["a100"]
    assert (pool.gpus, pool.gpus_min, pool.gpus_max, pool.slices) == (8, 8, 24, ())


def test_a_partitioned_gpu_has_its_instances_and_unused_slices() -> None:
    pool = pool_views({"pools.a100.mig": {"layout": "all-2g.10gb"}})["a100"]
    assert [(one.profile, one.compute) for one in pool.slices] == [("2g.10gb", 2)] * 3
    assert (pool.unused_slices, pool.slices_max) == (1, 3 * pool.gpus_max)


def test_the_pool_that_can_have_the_most_gpus_comes_first() -> None:
    views = pool_views({"pools.a100": {"preset": "a100", "max": 2}, "pools.many": {"preset": "gpu-spot", "max": 40}})
    gpus = [pool.gpus_max for pool in views.values()]
    assert gpus == sorted(gpus, reverse=True)
    assert next(iter(views)) == "many"


def test_node_prices_come_from_the_estimate() -> None:
    with price_book.fixed():
        pool = pool_views({"pools.cpu": {"preset": "cpu", "instanceTypes": ["m7i.large", "m7i.xlarge"]}})["cpu"]
    assert (pool.low, pool.high) == (Decimal("0.1008"), Decimal("0.2016"))


def test_gpu_pools_come_first() -> None:
    names = list(pool_views({}))
    assert set(names[-2:]) == {"cpu", "system"}


def test_taints_have_kubectl_notation() -> None:
    assert "nvidia.com/gpu=true:NoSchedule" in pool_views({})["h100"].taints


def test_quotas_are_fractions_of_the_maximum_pool_size() -> None:
    team = {"project": "p", "costCenter": "c"}
    teams = {
        "b": {**team, "gpus": {"h100": {"nominalQuota": 8, "borrowingLimit": 4, "lendingLimit": 2}}},
        "a": {**team, "gpus": {"h100": {"nominalQuota": 16}}},
    }
    changes = {"teams": teams, "pools.h100.min": 4, "pools.h100.max": 4, "addons.kueue": {}}
    platform = loaded(changes).platform
    (quota,) = team_views.quotas(platform, resolve_all(platform))
    assert (quota.pool, quota.unit, quota.size, quota.free) == ("h100", "GPU", 32, 8)
    assert [(part.team, part.tone, part.start, part.width, part.lend) for part in quota.parts] == [
        ("a", 0, 0, 50, 16),
        ("b", 1, 50, 25, 2),
    ]


@pytest.mark.parametrize(("nat", "gateways"), [("single", [True, False]), ("per-zone", [True, True])])
def test_nat_gateways_are_in_the_configured_zones(nat: str, gateways: list[bool]) -> None:
    view = layout.network(loaded({"network.nat": nat}).platform.network)
    assert [zone.nat for zone in view.zones] == gateways
    assert dict(view.zones[1].subnets)["private"] == "10.16.32.0/19"


def test_flow_logs_are_described() -> None:
    view = layout.network(loaded({"network.flowLogs": {"trafficType": "REJECT", "retentionDays": 7}}).platform.network)
    assert view.flow_logs == "rejected traffic, kept 7 days"


def test_users_of_a_store_are_derived_from_the_program(sample: SampleReport) -> None:
    stores = {store.name: store for store in sample.report.stores}
    teams = tuple(sorted(sample.loaded.platform.teams))
    assert stores["checkpoints"].teams == stores["efs-files"].teams == teams
    assert stores["mlflow-instance"].software == ("mlflow",)
    assert "FSx for Lustre (linked)" in stores["checkpoints"].software
    assert stores["lustre-files"].software == ()
    assert stores["logs"].teams == ()


def test_a_bucket_shows_its_expiry_rules(sample: SampleReport) -> None:
    settings = sample.loaded.platform.storage.buckets
    facts = {store.name: store.facts for store in sample.report.stores}
    assert f"checkpoints expire after {settings.checkpoint_days} days" in facts["checkpoints"]
    assert f"workflow artifacts expire after {settings.artifact_days} days" in facts["state"]
    assert facts["models"] == (f"noncurrent versions kept {settings.noncurrent_days} days",)


def test_software_has_releases_and_add_ons_of_the_program(sample: SampleReport) -> None:
    assert {"kueue", "karpenter", "mlflow-vision"} <= {one.name for one in sample.report.software}
    assert {"vpc-cni", "coredns"} <= {one.name for one in sample.report.addons}


def test_every_grouping_of_the_monthly_cost_has_the_same_total(sample: SampleReport) -> None:
    costs = sample.report.bill
    for bars in costs.by.values():
        assert sum((bar.amounts.expected for bar in bars), Decimal(0)).quantize(Decimal("0.01")) == (
            costs.total.expected.quantize(Decimal("0.01"))
        )


def test_a_difference_lists_the_largest_changes_first(sample: SampleReport) -> None:
    costs = sample.report.bill
    assert costs.delta is not None
    assert costs.delta.ceiling > 0 == costs.delta.floor
    assert costs.movers[0].name == "pool gpu-spot: EC2, nodes"


def test_cost_limits_are_converted_to_a_month() -> None:
    platform = loaded({"cost.limits": {"ceilingUsdPerHour": 100}}).platform
    assert cost.bill(platform, estimate(platform, TODAY), None).bounds == (("Ceiling limit", Decimal("73000.0")),)


def finding(rule: str, check: str, name: str, until: date | None = None) -> Finding:
    suppression = None
    if until is not None:
        suppression = Suppression(
            rule=f"{rule}/{check}", urn="urn:pulumi:*", reason="It is known.", owner="ops", until=until
        )
    urn = f"urn:pulumi:prod::slipway::aws:s3/bucket:Bucket::{name}"
    return Finding(
        rule=rule, check=check, urn=urn, path="", text=f"[{check}] {name} is wrong.", suppression=suppression
    )


def test_findings_are_grouped_and_the_mandatory_ones_come_first() -> None:
    violations = [
        finding("s3-audit-extras", "replicated", "b"),
        finding("s3-kms-bucket-key", "kms", "a"),
        finding("s3-audit-extras", "replicated", "a"),
    ]
    evaluation = risks.evaluation(violations, "prod", TODAY)
    levels = [one.level for one in evaluation.findings]
    assert levels == sorted(levels, key=["mandatory", "advisory"].index)
    extras = next(one for one in evaluation.findings if one.rule == "s3-audit-extras/replicated")
    assert extras.cases == (("a", "a is wrong."), ("b", "b is wrong."))


def test_a_suppression_is_valid_until_its_expiry_date() -> None:
    until = TODAY - timedelta(days=1)
    violations = [finding("s3-kms-bucket-key", "kms", "a", TODAY), finding("s3-kms-bucket-key", "kms", "b", until)]
    evaluation = risks.evaluation(violations, "prod", TODAY)
    assert [suppression.resources for suppression in evaluation.suppressions] == [("a",)]
    assert [name for one in evaluation.findings for name, _ in one.cases] == ["b"]


def test_limitations_are_listed(sample: SampleReport) -> None:
    limitations = {caveat.what: caveat for caveat in sample.report.caveats}
    unpriced = limitations["Unpriced items"]
    assert len(unpriced.cases) == len(sample.inputs.estimate.unpriced) > 0
    assert "Update or replacement unknown" in limitations
    empty = replace(sample.inputs.recording, resources={})
    without = risks.caveats(empty, sample.inputs.estimate, sample.inputs.plan, ())
    assert "Types only recorded by the sandbox" not in {caveat.what for caveat in (*without, *sample.report.caveats)}


def test_prices_of_another_region_are_a_limitation(sample: SampleReport) -> None:
    elsewhere = replace(sample.inputs.estimate, region="eu-west-1")
    limitations = risks.caveats(sample.recording, elsewhere, sample.inputs.plan, ())
    assert "Prices are for us-east-1" in {caveat.what for caveat in limitations}

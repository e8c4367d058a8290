"""What the report says is what the settings and the program say."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from policies.runner import Finding
from policies.suppressions import Suppression
from slipway.report.model import PoolView
from slipway.report.views import bill, caveats, findings, network, pools
from slipway.report.views import teams as team_views
from spec.pools.resolution import resolve_all
from spec.pricing import estimate
from tests.slipway.report.conftest import SampleReport
from tests.spec.settings.stack import loaded
from tests.support import price_book
from tests.support.day import TODAY

pytestmark = pytest.mark.xdist_group("report")


def drawn(changes: dict[str, Any]) -> dict[str, PoolView]:
    platform = loaded(changes).platform
    found = pools.pools(resolve_all(platform).values(), estimate(platform, TODAY))
    return {pool.name: pool for pool in found}


def test_a_pool_has_the_gpus_of_its_nodes() -> None:
    pool = drawn({"pools.a100": {"preset": "a100", "provisioner": "managed", "min": 1, "max": 3}})["a100"]
    assert (pool.gpus, pool.gpus_min, pool.gpus_max, pool.slices) == (8, 8, 24, ())


def test_a_cut_gpu_has_its_instances_and_what_nobody_has() -> None:
    pool = drawn({"pools.a100.mig": {"layout": "all-2g.10gb"}})["a100"]
    assert [(one.profile, one.compute) for one in pool.slices] == [("2g.10gb", 2)] * 3
    assert (pool.slack, pool.slices_max) == (1, 3 * pool.gpus_max)


def test_a_price_is_that_of_the_estimate() -> None:
    with price_book.fixed():
        pool = drawn({"pools.cpu": {"preset": "cpu", "instanceTypes": ["m7i.large", "m7i.xlarge"]}})["cpu"]
    assert (pool.low, pool.high) == (Decimal("0.1008"), Decimal("0.2016"))


def test_gpu_pools_come_first() -> None:
    names = list(drawn({}))
    assert set(names[-2:]) == {"cpu", "system"}


def test_a_taint_is_written_as_kubectl_writes_it() -> None:
    assert "nvidia.com/gpu=true:NoSchedule" in drawn({})["h100"].taints


def test_shares_are_parts_of_the_pool_at_its_largest() -> None:
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
def test_nat_gateways_stand_where_the_settings_put_them(nat: str, gateways: list[bool]) -> None:
    found = network.network(loaded({"network.nat": nat}).platform.network)
    assert [zone.nat for zone in found.zones] == gateways
    assert dict(found.zones[1].subnets)["private"] == "10.16.32.0/19"


def test_what_flow_logs_record_is_said_in_words() -> None:
    found = network.network(
        loaded({"network.flowLogs": {"trafficType": "REJECT", "retentionDays": 7}}).platform.network
    )
    assert found.flow_logs == "rejected traffic, kept 7 days"


def test_who_uses_a_store_is_found_in_the_program(sample: SampleReport) -> None:
    stores = {store.name: store for store in sample.report.stores}
    teams = tuple(sorted(sample.loaded.platform.teams))
    assert stores["checkpoints"].teams == stores["efs-files"].teams == teams
    assert stores["mlflow-instance"].software == ("mlflow",)
    assert "FSx for Lustre (linked)" in stores["checkpoints"].software
    assert stores["lustre-files"].software == ()
    assert stores["logs"].teams == ()


def test_a_bucket_says_when_what_is_in_it_goes(sample: SampleReport) -> None:
    settings = sample.loaded.platform.storage.buckets
    facts = {store.name: store.facts for store in sample.report.stores}
    assert f"checkpoints expire after {settings.checkpoint_days} days" in facts["checkpoints"]
    assert f"artifacts of workflows expire after {settings.artifact_days} days" in facts["state"]
    assert facts["models"] == (f"former versions kept {settings.noncurrent_days} days",)


def test_software_is_what_the_program_installs(sample: SampleReport) -> None:
    assert {"kueue", "karpenter", "mlflow"} <= {one.name for one in sample.report.software}
    assert {"vpc-cni", "coredns"} <= {one.name for one in sample.report.addons}


def test_the_bill_of_a_month_has_the_same_sum_in_every_grouping(sample: SampleReport) -> None:
    found = sample.report.bill
    for bars in found.by.values():
        assert sum((bar.amounts.expected for bar in bars), Decimal(0)).quantize(Decimal("0.01")) == (
            found.total.expected.quantize(Decimal("0.01"))
        )


def test_a_difference_names_what_moved_it_most(sample: SampleReport) -> None:
    found = sample.report.bill
    assert found.delta is not None
    assert found.delta.ceiling > 0 == found.delta.floor
    assert found.movers[0].name == "pool gpu-spot: EC2, nodes"


def test_bounds_are_by_the_month() -> None:
    platform = loaded({"cost.limits": {"ceilingUsdPerHour": 100}}).platform
    assert bill.bill(platform, estimate(platform, TODAY), None).bounds == (
        ("Limit of the ceiling", Decimal("73000.0")),
    )


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
    found = [
        finding("s3-audit-extras", "replicated", "b"),
        finding("s3-kms-bucket-key", "kms", "a"),
        finding("s3-audit-extras", "replicated", "a"),
    ]
    evaluation = findings.evaluation(found, "prod", TODAY)
    levels = [one.level for one in evaluation.findings]
    assert levels == sorted(levels, key=["mandatory", "advisory"].index)
    extras = next(one for one in evaluation.findings if one.rule == "s3-audit-extras/replicated")
    assert extras.cases == (("a", "a is wrong."), ("b", "b is wrong."))


def test_an_excuse_holds_until_its_last_day() -> None:
    until = TODAY - timedelta(days=1)
    found = [finding("s3-kms-bucket-key", "kms", "a", TODAY), finding("s3-kms-bucket-key", "kms", "b", until)]
    evaluation = findings.evaluation(found, "prod", TODAY)
    assert [suppression.resources for suppression in evaluation.suppressions] == [("a",)]
    assert [name for one in evaluation.findings for name, _ in one.cases] == ["b"]


def test_what_is_not_proven_is_said(sample: SampleReport) -> None:
    found = {caveat.what: caveat for caveat in sample.report.caveats}
    unpriced = found["Costs money, and has no price here"]
    assert len(unpriced.cases) == len(sample.found.estimate.unpriced) > 0
    assert "Update or replacement" in found
    assert any(case.startswith("Cost Explorer") for case in found["Only written down in the sandbox"].cases)


def test_prices_of_another_region_are_said_to_be_so(sample: SampleReport) -> None:
    elsewhere = replace(sample.found.estimate, region="eu-west-1")
    found = caveats.caveats(sample.recording, elsewhere, sample.found.plan, ())
    assert "Prices are those of us-east-1" in {caveat.what for caveat in found}

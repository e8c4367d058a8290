"""What to do: largest costs, savings that are valid and cost what they say, risks by date, and the map."""

import json
import re
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.runner import Finding
from policies.suppressions import Suppression
from slipway.report.advice import Risk
from slipway.report.gather import report
from slipway.report.page import page
from slipway.report.views import risks
from slipway.report.views.cost import savings
from slipway.report.views.levers import levers
from spec.catalog.instances import ALL
from spec.catalog.prices import book
from spec.pools.resolution import resolve_all
from spec.pricing import Estimate, estimate
from spec.settings import load, read_stack
from tests.slipway.report.conftest import STACK, SampleReport, settings
from tests.support.day import TODAY

STACKS = Path(__file__).parents[3] / "stacks"
pytestmark = pytest.mark.xdist_group("report")


def changed(setting: str) -> Estimate:
    """The estimate of the stack file with one setting of the report's text."""
    path, _, value = setting.partition(": ")
    data: dict[str, Any] = json.loads(json.dumps(settings()))
    inner = data
    *parents, last = path.split(".")
    for key in parents:
        inner = inner.setdefault(key, {})
    inner[last] = yaml.safe_load(value)
    return estimate(load(data, stack=STACK, today=TODAY).platform, TODAY)


def test_a_saving_is_the_difference_that_its_text_makes_in_the_stack_file(sample: SampleReport) -> None:
    found = sample.report.advice.savings
    assert len(found) >= 2
    for one in found:
        assert one.saved == (sample.inputs.estimate.amounts - changed(one.setting).amounts).month, one.setting
        assert one.saved.expected >= 1


def test_savings_are_sorted_and_the_largest_pools_are_among_the_largest_costs(sample: SampleReport) -> None:
    advice = sample.report.advice
    assert [one.saved.expected for one in advice.savings] == sorted(
        (one.saved.expected for one in advice.savings), reverse=True
    )
    assert advice.largest[0].name.startswith("pool h100")
    assert advice.largest[0].percent == pytest.approx(
        float(100 * advice.largest[0].expected / sample.report.bill.total.expected)
    )
    one = advice.largest[0]
    assert one.each * one.units == pytest.approx(one.expected)


def test_a_change_that_the_checks_refuse_is_no_saving(sample: SampleReport) -> None:
    """Spot for a pool in a Capacity Block, and a schedule for a pool with a reservation, are refused."""
    assert not any("h100" in one.setting for one in sample.report.advice.savings)


def levers_of(stack: str, **changes: Any) -> dict[str, str]:
    """What is to be weighed for a stack, with other settings by their path."""
    data = read_stack(stack, STACKS)
    assert isinstance(data, dict)
    for path, value in changes.items():
        inner = data
        *parents, last = path.split("__")
        for key in parents:
            inner = inner[key]
        inner[last] = value
    platform = load(data, stack=stack, today=TODAY).platform
    found = levers(platform, resolve_all(platform), estimate(platform, TODAY))
    return {one.what: one.why for one in found}


def test_of_a_pool_at_zero_a_commitment_is_compared_with_its_hours() -> None:
    found = levers_of("dev")
    kind = book("us-east-1").instance("p4d.24xlarge")
    assert kind is not None
    # 8 hours of five days, of a week of 168.
    assert next(iter(found)) == "no commitment for a100"
    assert f"pays only below ${kind.usd * 40 / 168:.2f} an hour" in found["no commitment for a100"]
    assert f"${kind.usd:.2f} an hour, {kind.source.day}" in found["no commitment for a100"]


def test_nodes_that_always_run_are_a_commitment_at_their_monthly_price() -> None:
    found = levers_of("prod")
    (what,) = (one for one in found if one.startswith("commit to") and one.endswith("a100"))
    pool = load(settings(), stack=STACK, today=TODAY).platform.pools["a100"]
    kind = book("us-east-1").instance(pool.instance_types[0])
    assert kind is not None
    assert what == f"commit to {pool.min} node{'s' if pool.min > 1 else ''} of a100"
    assert f"${round(kind.usd * 730 * pool.min):,} a month" in found[what]
    assert f"saves ${round(kind.usd * pool.min * Decimal('7.3')):,} for each percent" in found[what]


def test_a_pool_at_a_contracts_price_and_one_on_spot_are_left_alone() -> None:
    assert not [what for what in levers_of("prod") if what.endswith("h100")]
    assert not [what for what in levers_of("dev") if "gpu-spot" in what]


def test_a_smaller_node_is_named_where_a_unit_fits_it_and_not_for_training() -> None:
    found = levers_of("dev")
    (what,) = (one for one in found if one.endswith("beside a100"))
    named = what.removeprefix("a pool of ").removesuffix(" beside a100")
    kind, price = ALL[named], book("us-east-1").instance(named)
    assert kind.gpus == 1
    assert kind.gpu_memory_mib >= 5 * 1024
    assert price is not None
    assert "what needs no more than a 1g.5gb of it" in found[what]
    assert f"at ${price.usd:.2f} an hour" in found[what]
    assert not [one for one in levers_of("dev", pools__a100__role="training", pools__a100__mig=None) if "beside" in one]


def test_full_quotas_are_fixed_for_nothing_before_a_node_is_bought(sample: SampleReport) -> None:
    fix = risk_of(sample, "teams have the whole quota").fix
    assert fix.startswith("lower a team's nominalQuota, which costs nothing, or raise pools.")
    assert re.search(r": a node costs \$[\d,]+\.\d\d an hour while it runs$", fix)


def test_without_the_file_there_are_no_savings(sample: SampleReport) -> None:
    assert report(replace(sample.inputs, data={})).advice.savings == ()


def test_price_sources_add_up_and_declared_prices_are_named(sample: SampleReport) -> None:
    sources = sample.report.bill.sources
    assert sum(one.expected for one in sources) == pytest.approx(sample.report.bill.total.expected)
    assert sum(one.items for one in sources) == len(sample.inputs.estimate.lines)
    (declared,) = (one for one in sources if one.kind == "declared")
    assert declared.text.startswith("cost.usage.pools.h100.usdPerNodeHour")
    assert declared.percent > 50
    assert {one.kind for one in sources} == {"declared", "list", "spot"}


def risk_of(sample: SampleReport, text: str, **changes: Any) -> Risk:
    inputs = replace(sample.inputs, **changes)
    return next(one for one in report(inputs).advice.risks if text in one.what)


def test_the_end_of_support_is_a_risk_with_its_date(sample: SampleReport) -> None:
    platform = sample.loaded.platform
    one = risk_of(sample, f"standard support of Kubernetes {platform.cluster.version} ends")
    assert one.days == (one.day - TODAY).days if one.day else False
    later = risk_of(sample, "extended support", today=date(2027, 6, 1))
    assert later.then == "EKS upgrades the control plane by itself"


def test_suppressions_that_end_on_one_day_are_one_risk(sample: SampleReport) -> None:
    until = TODAY + timedelta(days=40)
    why = Suppression(rule="x", urn="*", reason="r", owner="o", until=until)
    template = next(one for one in sample.inputs.violations if one.suppression)
    violations = [replace(template, suppression=why), replace(template, suppression=why)]
    one = risk_of(sample, "suppression", violations=violations)
    assert (one.what, one.day, one.days) == ("1 suppression ends", until, 40)


def test_a_capacity_block_and_full_quotas_are_risks(sample: SampleReport) -> None:
    assert risk_of(sample, "the Capacity Block of pool h100 ends").day == date(2027, 4, 5)
    assert risk_of(sample, "teams have the whole quota").day is None


def test_a_budget_is_a_risk_from_80_percent_on(sample: SampleReport) -> None:
    teams = sample.report.teams
    cost = teams[0].cost.expected

    def found(budget: Decimal) -> list[str]:
        made = [replace(teams[0], budget=budget)]
        found = risks.risks(sample.loaded.platform, sample.inputs.estimate, (), made, (), TODAY)
        return [one.what for one in found if f"team {teams[0].name}" in one.what]

    assert found(cost / Decimal("0.8")) == [f"team {teams[0].name} is expected to spend 80% of its budget"]
    assert found(cost / Decimal("0.79")) == []


def test_a_ceiling_above_the_budget_is_a_risk_that_names_the_dearest_pool(sample: SampleReport) -> None:
    ceiling = sample.inputs.estimate.amounts.month.ceiling

    def found(budget: int) -> list[Risk]:
        platform = sample.loaded.platform
        cost = platform.cost.model_copy(update={"monthly_budget_usd": budget})
        made = risks.risks(platform.model_copy(update={"cost": cost}), sample.inputs.estimate, (), (), (), TODAY)
        return [one for one in made if one.what.startswith("with all pools at their maximum")]

    (risk,) = found(int(ceiling / 2))
    assert risk.what.endswith("spends 200% of its budget")
    assert risk.fix == "lower pools.h100.max, or raise cost.monthlyBudgetUsd"
    assert found(int(ceiling) + 1) == []


def test_the_time_axis_has_every_dated_risk_once() -> None:
    def risk(day: date | None) -> Risk:
        return Risk(day=day, what="", then="", fix="", section="cost")

    found = [
        risk(None),
        risk(date(2026, 10, 1)),
        risk(date(2026, 11, 30)),
        risk(date(2027, 10, 1)),
        risk(date(2028, 1, 1)),
    ]
    axis, later = risks.months(found, date(2026, 11, 22))
    assert [month.name for month in axis][:3] == ["Nov", "Dec", "Jan"]
    assert (axis[0].risks, axis[-1].risks, axis[-1].year, later) == ((2, 3), (4,), 2027, (5,))


def test_the_map_joins_what_the_settings_join(sample: SampleReport) -> None:
    report_, drawn = sample.report, sample.report.map
    boxes = {title: [box.key for box in column] for title, column in drawn.columns}
    assert boxes["Zones"] == [zone.name for zone in report_.network.zones]
    assert boxes["Pools"] == [pool.name for pool in report_.pools]
    zones = sum(len(pool.zones) for pool in report_.pools)
    shares = sum(len(quota.parts) for quota in report_.quotas)
    stores = sum(len(store.teams) for store in report_.stores)
    assert len(drawn.links) == zones + shares + stores
    assert min(zones, shares, stores) > 0
    for team in drawn.teams:
        assert {pool for pool, _ in team.pools} == {
            quota.pool for quota in report_.quotas for part in quota.parts if part.team == team.team
        }


def test_boxes_of_the_map_do_not_overlap_and_are_inside(sample: SampleReport) -> None:
    drawn = sample.report.map
    for _, column in drawn.columns:
        for upper, lower in pairwise(column):
            assert upper.y + upper.height <= lower.y
        assert all(0 <= box.x <= drawn.width - drawn.box for box in column)
        assert all(0 <= box.y <= drawn.height - box.height for box in column)


def test_findings_are_counted_once_per_check_and_once_per_resource(sample: SampleReport) -> None:
    result = sample.report.evaluation
    assert result.distinct("advisory") == len([one for one in result.findings if one.level == "advisory"])
    assert result.count("advisory") == sum(len(one.cases) for one in result.findings if one.level == "advisory")
    active: list[Finding] = [one for one in sample.inputs.violations if one.counts(TODAY)]
    assert result.count("advisory") + result.count("mandatory") == len(active)
    assert result.suppressed == len(sample.inputs.violations) - len(active)


@pytest.mark.parametrize(("stack", "nat"), [("prod", False), ("staging", True)])
def test_a_saving_that_the_policies_refuse_is_left_out(stack: str, nat: bool) -> None:
    data = read_stack("prod", STACKS)
    assert isinstance(data, dict)
    data["environment"]["name"] = stack
    platform = load(data, stack=stack, today=TODAY).platform
    found = savings(platform, data, estimate(platform, TODAY), stack, TODAY)
    assert any(one.setting == "network.nat: single" for one in found) is nat
    # The rule knows no quota of standard Spot instances in the account.
    assert not any(one.setting == "pools.cpu.capacity.market: spot" for one in found)
    assert any(one.setting == "pools.a100.min: 0" for one in found)


def test_a_pool_of_which_less_than_a_node_is_expected_saves_no_more_than_it_costs(sample: SampleReport) -> None:
    rare = replace(sample.report.advice.largest[0], units=Decimal("0.2"), each=Decimal(16029))
    advice = replace(sample.report.advice, largest=(rare,))
    text = page(replace(sample.report, advice=advice))
    assert "$21.96" in text
    assert "per node-hour, 146 a month expected" in text
    assert "16,029" not in text

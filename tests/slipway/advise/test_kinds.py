"""Changes of the typed settings, which can be written into the stack file, and figures of replays."""

from dataclasses import replace
from typing import Any, Final

import pytest
import yaml

from slipway.advise.kinds import KINDS, Subject, changes
from slipway.advise.measure import Figures, Wait, demand, figures, objections, saved, steady
from slipway.advise.stack import ABOVE, NotAllowedError, Stack
from slipway.replay.result import LeftOut
from spec.clock import today
from spec.settings import load, read_stack
from spec.settings.load import edited
from spec.settings.pools import Role
from tests.components.admission.upstream import CLAIMED, POOL_NAME
from tests.components.pools.samples import platform
from tests.slipway.conftest import choices
from tests.slipway.replay.examples import planned, result
from tests.support.cases import beside
from tests.support.stacks import FOLDER, NAMES, platform_of

CASES: Final = beside(__file__)

DEMAND = {"a100": {"vision": 30.0, "language": 10.0}, "cpu": {"vision": 1.0}}


def subject(stack: str) -> Subject:
    return Subject(platform=platform_of(stack), demand=DEMAND)


def stack(name: str) -> Stack:
    settings = read_stack(name, FOLDER)
    assert isinstance(settings, dict)
    return Stack(name, FOLDER / f"Pulumi.{name}.yaml", settings, today())


def test_every_kind_finds_a_change_of_a_shipped_stack() -> None:
    assert {one.kind for name in NAMES for one in changes(subject(name))} == set(KINDS)
    assert list(KINDS) == choices("replay", "--without KIND")


def test_kinds_take_turns_and_can_be_left_out() -> None:
    found = [one.kind for one in changes(subject("dev"), frozenset({"spot", "types"}))]
    assert found[:3] == ["preemption", "consolidation", "borrowing"]
    assert found[0] in found[3:]
    assert not {"spot", "types"} & set(found)


@pytest.mark.parametrize("name", NAMES)
def test_system_pools_and_paid_capacity_stay_as_they_are(name: str) -> None:
    pools = platform_of(name).pools
    kept = {key for key, one in pools.items() if one.role is Role.SYSTEM or one.capacity.market == "reserved"}
    assert "system" in kept
    assert {path[1] for one in changes(subject(name)) for path in one.edits if path[0] == "pools"} <= set(pools) - kept


def test_quotas_follow_what_the_teams_ask_for_and_keep_their_sum() -> None:
    (one,) = [each for each in changes(subject("dev")) if each.what.startswith("a100: quotas")]
    assert one.what.endswith("(vision 6, language 2, recommender 0)")
    teams = platform_of("dev").teams.values()
    assert sum(one.edits.values()) == sum(team.shares["a100"].nominal_quota for team in teams)


def test_a_changed_number_of_gpus_on_a_node_keeps_the_gpus_of_the_pool() -> None:
    (one,) = [each for each in changes(subject("staging")) if each.what == "h100: p5.4xlarge"]
    assert one.edits["pools", "h100", "max"] == 16, "2 nodes of 8 GPUs, as 16 of one"


def test_a_topology_is_for_pools_with_efa_and_a_fixed_number_of_nodes() -> None:
    found = {name: [one for one in changes(subject(name)) if one.kind == "topology"] for name in NAMES}
    ((one,),) = [each for each in found.values() if each]
    assert found["prod"] == [one]
    assert (one.what.partition(":")[0], one.edits) == ("h100", {("queues", "topology"): True})


def test_a_pool_with_claims_of_devices_keeps_its_fixed_size_or_gets_the_device_plugin() -> None:
    settings = platform({POOL_NAME: CLAIMED}, cluster={"version": "1.36"}, addons={"draDriver": {}, "gpuOperator": {}})
    found = [one for one in changes(Subject(platform=settings, demand={})) if next(iter(one.edits))[1] == POOL_NAME]
    of_size = [one.edits for one in found if one.kind in ("maximum", "minimum")]
    sizes = [{path[2]: value for path, value in edits.items()} for edits in of_size]
    assert sizes == [{"min": size, "max": size} for size in (1, 3, 4)]
    (elastic,) = (one for one in found if "Karpenter" in one.what)
    shared = [one for one in found if "share a GPU" in one.what]
    assert len(shared) == 3
    for one in (elastic, *shared):
        assert one.edits["pools", POOL_NAME, "gpuAllocation"] is None


def test_edits_replace_add_and_remove_keys_of_a_copy() -> None:
    before = {"pools": {"a": {"max": 1, "mig": {"layout": "x"}}}}
    edits = {("pools", "a", "mig"): None, ("pools", "a", "max"): 2, ("queues", "spotFirst"): False}
    assert edited(before, edits) == {"pools": {"a": {"max": 2}}, "queues": {"spotFirst": False}}
    assert before == {"pools": {"a": {"max": 1, "mig": {"layout": "x"}}}}


@pytest.mark.parametrize("name", NAMES)
def test_every_change_is_written_with_the_comments_and_nothing_else(name: str) -> None:
    of = stack(name)
    old = of.path.read_text(encoding="utf-8")
    for one in changes(subject(name)):
        text = of.text(one.edits)
        settings = yaml.safe_load(text)[ABOVE[0]][ABOVE[1]]
        assert settings == edited(yaml.safe_load(old)[ABOVE[0]][ABOVE[1]], one.edits), one.what
        lost = set(old.splitlines()) - set(text.splitlines())
        assert len(lost) <= 2 * len(one.edits), one.what
        assert [line for line in lost if line.lstrip().startswith("#")] == [], one.what


REFUSED = [
    ({("pools", "cpu", "max"): 3}, "check: teams have a nominal quota of 96 vCPUs"),
    ({("pools", "h100", "max"): 40}, "policy: "),
    ({("pools", "a100", "sharing"): {"mode": "time-slicing", "replicas": 99}}, "check: "),
]


@pytest.mark.parametrize(("edits", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_what_check_or_a_mandatory_policy_refuses_is_not_allowed(
    edits: dict[tuple[str, ...], object], says: str
) -> None:
    of = stack("dev")
    of.as_it_is()
    with pytest.raises(NotAllowedError, match=says):
        of.changed(edits)


def test_what_the_stack_violates_already_is_no_reason_against_a_change() -> None:
    of = stack("dev")
    more = replace(of, settings=edited(of.settings, {("cost", "limits", "ceilingUsdPerHour"): 5}))
    change: dict[tuple[str, ...], object] = {("pools", "a100", "disruption", "consolidateAfter"): "5m"}
    with pytest.raises(NotAllowedError, match="policy: stack-cost-cap"):
        more.changed(change)
    more.as_it_is()
    platform, _ = more.changed(change)
    assert platform.pools["a100"].disruption.consolidate_after == "5m"
    assert load(edited(more.settings, change), stack="dev").platform.pools == platform.pools


# Figures of a replay that was recorded, by hand; and what is an objection.


def made(**fields: Any) -> Figures:
    mean, p95, team = fields.pop("mean", 1000.0), fields.pop("p95", 9000.0), fields.pop("team", 1000.0)
    usd, work = fields.pop("usd", 500.0), fields.pop("work", 100.0)
    waits = {"all": Wait(jobs=100, mean=mean, p95=p95), "team a": Wait(jobs=50, mean=team, p95=p95)}
    left_out = LeftOut(jobs=fields.pop("left_out", 5), of=100, of_gpu_hours=1)
    rest = {"left_out": left_out, "short": 5, "preemptions": 0, **fields}
    return Figures(usd=usd, work=work, usd_per_hour_of_work=usd / work, waits=waits, **rest)


def test_figures_of_a_recorded_replay() -> None:
    found = figures(result(), planned())
    # train: 2 GPUs for an hour; notebook: a quarter of one for two; sweep: one for ten minutes. `huge` has no place.
    assert found.work == pytest.approx(2 * 1 + 0.25 * 2 + 1 / 6)
    assert found.usd_per_hour_of_work == pytest.approx(result().usd / found.work)
    assert (found.left_out.jobs, found.short) == (1, 0)
    assert found.waits["all"].jobs == 5
    assert found.waits["team language"].p95 == 1831


def test_a_job_that_gets_less_than_it_asks_for_is_counted() -> None:
    header = "job,team,submitted,duration,cpu,memory,gpus,gpu_type\n"
    plan = planned(f"{header}part,vision,0,60,1,1Gi,0.1,A100\nmost,vision,0,60,1,1Gi,0.9,A100\n")
    assert [one.refused for one in plan.jobs.values()] == ["", ""]
    empty = result().model_copy(update={"outcomes": result().outcomes[:2]})
    assert figures(empty, plan).short == 1, "a seventh of an A100 is more than 0.1, and less than 0.9"


def test_demand_is_in_gpu_hours_by_pool_and_team() -> None:
    assert demand(planned())["h100"] == {"language": pytest.approx(2 + 1 / 6)}


def test_nodes_that_run_most_of_the_time_are_named_where_they_are_on_demand() -> None:
    nodes = {"h100": [2.0, 2.0, 1.0, 1.0, 1.0, 1.0], "gpu-spot": [3.0] * 6, "cpu": [0.0] * 6}
    found = result().model_copy(update={"timeline": result().timeline.model_copy(update={"nodes": nodes})})
    assert steady(found, planned()) == {"h100": (1, 1.0)}


AGAINST = CASES["against"]


@pytest.mark.parametrize(("fields", "says"), AGAINST, ids=[str(fields) for fields, _ in AGAINST])
def test_objections(fields: dict[str, Any], says: list[str]) -> None:
    assert list(objections(made(), made(**fields), longer=0.0)) == says


def test_waits_may_become_longer_by_a_part_that_the_user_gives() -> None:
    assert list(objections(made(), made(mean=1160.0), longer=0.1)) == []
    assert list(objections(made(), made(mean=1161.0), longer=0.1)) != []


def test_saved_is_of_an_hour_of_work() -> None:
    assert saved(made(), made(usd=400.0)) == pytest.approx(0.2)
    assert saved(made(), made(usd=1000.0, work=200.0)) == 0, "twice the work for twice the cost"

"""Changes are generated from the typed settings, and each can be written into the stack file."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from slipway.advise.kinds import KINDS, Subject, changes, edited
from slipway.advise.stack import ABOVE, NotAllowedError, Stack
from slipway.cli import replay_options
from spec.clock import today
from spec.settings import load, read_stack
from spec.settings.pools import Role
from tests.support.stacks import FOLDER, NAMES, platform_of

DEMAND = {"a100": {"vision": 30.0, "language": 10.0}, "cpu": {"vision": 1.0}}


def subject(stack: str) -> Subject:
    return Subject(platform=platform_of(stack), demand=DEMAND)


def stack(name: str) -> Stack:
    settings = read_stack(name, FOLDER)
    assert isinstance(settings, dict)
    return Stack(name, FOLDER / f"Pulumi.{name}.yaml", settings, today())


def test_every_kind_finds_a_change_of_a_shipped_stack() -> None:
    assert {one.kind for name in NAMES for one in changes(subject(name))} == set(KINDS)
    assert tuple(KINDS) == replay_options.KINDS


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

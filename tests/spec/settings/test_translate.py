"""Errors of the models are reported in words, for every rule that the models have."""

import re
from datetime import date
from typing import Any, Final

import pytest

from spec.settings import ConfigurationError, load, reference
from spec.settings.base import EXPLANATIONS
from spec.settings.migrate import migrate
from spec.settings.platform import Platform
from spec.settings.translate import RENAMED, unknown
from tests.spec.settings.stack import STACK, changed, problems
from tests.spec.settings.test_schema import rows
from tests.support.cases import beside

CASES: Final = beside(__file__)


def patterns(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*map(patterns, node))
    if not isinstance(node, dict):
        return set()
    own = {node["pattern"]} if isinstance(node.get("pattern"), str) else set()
    return own.union(node.get("patternProperties", ()), *map(patterns, node.values()))


def test_every_pattern_of_the_models_is_explained_and_no_other() -> None:
    assert patterns(Platform.model_json_schema()) == set(EXPLANATIONS)


def test_examples_in_explanations_match_their_patterns() -> None:
    shown = {
        pattern: re.findall(r"(?:like|named like|quotes:) ([^,\n]+?)(?: or |\.$|$)", f"{rule} {fix}")
        for pattern, (rule, fix) in EXPLANATIONS.items()
    }
    examples = [(pattern, text.strip('"')) for pattern, texts in shown.items() for text in texts]
    assert len(examples) >= 8
    for pattern, text in examples:
        found = re.fullmatch(pattern, text.split(", ")[0])
        assert found, f"{pattern}: end the fix with `Write it like EXAMPLE.`, not {text}"


def test_a_key_with_the_same_beginning_is_suggested_before_one_with_similar_letters() -> None:
    assert unknown("pools.x.ami", 1, ["min", "amiRelease"]).fix == "Did you mean `amiRelease`?"
    assert unknown("pools.x.netwrok", 1, ["network"]).fix == "Did you mean `network`?"
    assert unknown("pools.x.qqq", 1, ["b", "a"]).fix == "Remove it, or use one of a, b."
    assert unknown("teams.x.namespaces.y.z.qqq", 1, []).fix == "Remove it."


def old_and_new() -> list[tuple[str, str]]:
    return [(old.replace("*", "x"), new) for old, new in RENAMED.items()]


@pytest.mark.parametrize(("old", "new"), old_and_new())
def test_an_old_name_is_refused_with_the_new_one(old: str, new: str) -> None:
    problem = unknown(old, 1, ["other"])
    assert (problem.path, problem.fix) == (old, f"Write `{new}`.")
    assert f"renamed to {new}" in problem.rule


def test_every_new_name_is_a_setting_and_no_old_one_is() -> None:
    known = set(rows(reference.text()))
    for old, new in RENAMED.items():
        path = old.replace("*", "NAME")
        assert f"{path.rpartition('.')[0]}.{new}".lstrip(".") in known, old
        assert path not in known, old


def test_a_required_key_under_its_old_name_is_one_problem() -> None:
    team = {"project": "p", "costCenter": "c", "gpus": {"a100": {"nominal": 8}}}
    (problem,) = problems(changed({"teams.vision": team}))
    assert problem.path == "teams.vision.gpus.a100.nominal"


@pytest.mark.parametrize(("name", "key"), [("poolz", "pools"), ("notices", "notifications"), ("teems", "teams")])
def test_a_part_under_another_name_is_one_problem(name: str, key: str) -> None:
    """Nothing else is said of a part that is there."""
    whole = {
        "teams": {"vision": {"project": "p", "costCenter": "c", "jobUsd": 9, "gpus": {"a100": {"nominalQuota": 1}}}}
    }
    data = changed({**whole, "notifications": {"emails": ["a@example.com"]}, "cost.monthlyBudgetUsd": 100})
    assert problems(data) == ()
    (problem,) = problems({name if one == key else one: value for one, value in data.items()})
    assert (problem.path, f"`{key}`" in problem.fix) == (name, True)


@pytest.mark.parametrize(("old", "new"), old_and_new())
def test_an_old_name_is_written_as_the_new_one(old: str, new: str) -> None:
    *above, key = old.split(".")
    begin = "# \u00e9\nconfig:\n  slipway:platform: # of {notices: 1}\n    " + "".join(f"{one}: {{" for one in above)
    end = f": {key} # {key}\n{'}' * len(above)}\n"
    for quote in ("", "'", '"'):
        found = migrate(f"{begin}{quote}{key}{quote}{end}")
        assert found == (f"{begin}{quote}{new}{quote}{end}", [(old, new)])
        assert migrate(found[0]) == (found[0], [])


def test_of_a_setting_with_both_names_and_of_other_configuration_nothing_is_written() -> None:
    for text in (
        "config: {'slipway:platform': {notices: 1, notifications: 2}}",
        "config: {notices: 1}",
        "notices: 1",
        "- notices: 1",
        "",
    ):
        assert migrate(text) == (text, [])


# Capacity Blocks: dates, and nodes on the days of the block only.


BLOCK: Final[dict[str, Any]] = {
    "kind": "capacity-block",
    "id": "cr-0a1b2c3d4e5f67890",
    "startDate": "2026-12-01",
    "endDate": "2026-12-15",
}
PATH: Final = "pools.h100.capacity.reservation"
BEFORE, DURING, AFTER = date(2026, 11, 30), date(2026, 12, 1), date(2026, 12, 15)


def reported(day: date, /, pool: dict[str, Any] | None = None, **reservation: Any) -> tuple[list[str], list[str]]:
    """Paths of the errors and of the warnings."""
    kept = {key: value for key, value in {**BLOCK, **reservation}.items() if value is not None}
    capacity = {"market": "reserved", "reservation": kept}
    data = changed({"pools.h100.capacity": capacity, **{f"pools.h100.{key}": v for key, v in (pool or {}).items()}})
    try:
        return [], [warning.path for warning in load(data, stack=STACK, today=day).warnings]
    except ConfigurationError as error:
        return [problem.path for problem in error.problems], []


def test_a_block_is_inactive_until_it_starts_and_active_until_it_ends() -> None:
    assert reported(BEFORE) == ([], [])
    assert reported(BEFORE, active=True) == ([f"{PATH}.active"], [])
    assert reported(DURING, active=True) == ([], [])


def test_a_block_that_is_paid_for_and_not_used_is_a_warning() -> None:
    assert reported(DURING) == ([], [f"{PATH}.active"])
    assert reported(AFTER) == ([], [])


def test_nodes_on_a_block_that_has_ended_are_a_warning() -> None:
    assert reported(date(2026, 12, 14), active=True) == ([], [])
    assert reported(AFTER, active=True) == ([], [f"{PATH}.active"])


@pytest.mark.parametrize("missing", ["startDate", "endDate"])
def test_a_managed_pool_needs_both_days(missing: str) -> None:
    assert reported(BEFORE, **{missing: None}) == ([PATH], [])


@pytest.mark.parametrize(("end", "accepted"), CASES["a block has a length that ec2 sells"])
def test_a_block_has_a_length_that_ec2_sells(end: str, accepted: bool) -> None:
    assert reported(BEFORE, endDate=end) == ([] if accepted else [f"{PATH}.endDate"], [])


def test_a_day_may_be_written_without_quotes() -> None:
    """YAML reads a time then: `check` sees a date, and the program what the Pulumi CLI makes of it."""
    assert reported(DURING, active=True, startDate=date(2026, 12, 1), endDate="2026-12-15T00:00:00Z") == ([], [])


def test_karpenter_and_on_demand_reservations_need_no_days_and_no_switch() -> None:
    elastic = {"provisioner": "karpenter", "efa": False}
    assert reported(DURING, elastic, startDate=None, endDate=None) == ([], [])
    assert reported(DURING, elastic, active=True) == ([f"{PATH}.active"], [])
    assert reported(DURING, kind="odcr", active=True, startDate=None, endDate=None) == ([f"{PATH}.active"], [])

"""Every bad input is refused with path, rule and fix, and with no other problem."""

import json
import math
import re
from datetime import date
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec.catalog import instances
from spec.settings import ConfigurationError, Loaded, Problem, load, read_stack, schema
from spec.settings.parts import plain_map
from spec.settings.platform import Platform
from spec.settings.presets import PRESETS
from spec.settings.source import placed
from tests.spec.settings.bad import NOT_GIVEN, ROWS, Bad
from tests.spec.settings.stack import BASE, STACK, changed, loaded, problems
from tests.support.day import TODAY

SECTIONS = sorted({row.path.partition(".")[0] for row in ROWS})
OTHER_VALUES: Final = {
    "access key": "(not shown)",
    "model hub token": "(not shown)",
    # What decides is no value of the file.
    "too few addresses for all nodes": "507 addresses",
    "EFA on a type without": ["g6.xlarge"],
    "images unpacked in parallel on a slow disk": 125,
    "nodes from zero": {"provisioner": "managed", "min": 0, "max": 2},
}
"""Values that are reported although the file has others at that place."""


def test_the_base_stack_is_valid_and_has_no_warnings() -> None:
    assert problems(BASE) == ()
    assert loaded({}).warnings == ()


def test_every_number_is_tested_or_explained() -> None:
    tested = {row.number for row in ROWS if row.number is not None}
    assert tested.isdisjoint(NOT_GIVEN)
    assert tested | set(NOT_GIVEN) == set(range(1, 65))


@pytest.mark.parametrize("section", SECTIONS)
def test_a_bad_input_is_refused_with_place_path_rule_and_fix(
    section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for row in ROWS:
        if row.path.partition(".")[0] != section:
            continue
        reported = problems(changed(row.changes), stack=str(row.changes.get("environment.name", STACK)))
        report = "\n".join([str(row), *map(str, reported)])
        assert [problem.path for problem in reported] == [row.path], report
        assert row.rule in reported[0].rule, report
        assert row.fix in reported[0].fix, report
        assert "See stacks/schema.json" not in reported[0].fix, report
        assert place_is_right(row, reported[0], tmp_path), report


def place_is_right(row: Bad, problem: Problem, directory: Path) -> bool:
    """Whether it is that of the key, or of the key above it."""
    data, file = changed(row.changes), directory / f"Pulumi.{STACK}.yaml"
    whole = {"config": {"slipway:platform": data}}
    file.write_text(json.dumps(whole, indent=1, default=str, ensure_ascii=False), encoding="utf-8")
    (one,) = placed([problem], STACK, directory)
    name, line, column = one.at.split(":")
    text = file.read_text(encoding="utf-8").splitlines()[int(line) - 1][int(column) - 1 :]
    key = re.split(r"[\"']?:(?: |$)", text.lstrip("\"'"))[0]
    keys = ["slipway:platform", *row.path.split(".")]
    there = [at for at in range(1, len(keys)) if value_at(data, ".".join(keys[1 : at + 1])) is not None]
    # An entry of a list is its value; names of labels and resources have points of their own.
    pointed = "." in key or "/" in row.path or any(map(str.isdigit, keys))
    return name == file.name and (pointed or key == keys[max(there, default=0)])


def value_at(data: Any, path: str) -> Any:
    """The value at a dotted path; None where there is none."""
    for part in path.split("."):
        if isinstance(data, list):
            data = data[int(part)]
        elif isinstance(data, dict) and part in data:
            data = data[part]
        else:
            return None
    return data


def reported(row: Bad) -> Any:
    return problems(changed(row.changes), stack=str(row.changes.get("environment.name", STACK)))[0].value


def test_what_is_reported_is_the_value_of_the_file_or_the_key_that_is_wrong() -> None:
    named = {row.what for row in ROWS}
    assert OTHER_VALUES.keys() <= named
    for row in ROWS:
        given = value_at(changed(row.changes), row.path)
        if row.what in OTHER_VALUES:
            assert reported(row) == OTHER_VALUES[row.what], row
        elif given is not None and not isinstance(given, dict | list):
            value = reported(row)
            # A network is reported as a value of its type.
            assert value == given or str(value) in (str(given), row.path.rpartition(".")[2]), row


# One mistake is one problem, whose text names what to change.


TEAM: dict[str, Any] = {"project": "p", "costCenter": "c", "gpus": {"l4": {"nominalQuota": 1}}}


@pytest.mark.parametrize(("place", "known"), [
    ("namespaces.main", ("podSecurity", "purpose", "share")),
    ("members.lead", ("principalArn", "role")),
    ("gpus.l4", ("borrowingLimit", "lendingLimit", "nominalQuota")),
])  # fmt: skip
def test_an_unknown_key_of_a_map_of_a_team_is_answered_with_the_known_ones(place: str, known: tuple[str, ...]) -> None:
    data = changed({"teams.vision": TEAM, f"teams.vision.{place}.qqq": 1})
    (problem,) = [one for one in problems(data) if one.path.endswith("qqq")]
    assert problem.fix == f"Remove it, or use one of {', '.join(known)}."


def test_a_misspelt_key_of_a_map_of_a_team_is_answered_with_the_right_one() -> None:
    (problem,) = problems(changed({"teams.vision": TEAM, "teams.vision.namespaces.main.purposes": "training"}))
    assert (problem.path, problem.fix) == ("teams.vision.namespaces.main.purposes", "Did you mean `purpose`?")


@pytest.mark.parametrize(
    ("pool", "types", "more"),
    [
        ("l4", ["g6.xlrge", "g6.2xlrge", "g6.4xlrge"], {"sharing": {"mode": "time-slicing", "replicas": 4}}),
        ("a100", ["p4d.24xlarg"], {"mig": {"layout": "all-1g.5gb"}}),
    ],
)
def test_a_misspelt_instance_type_says_nothing_about_gpus(pool: str, types: list[str], more: dict[str, Any]) -> None:
    of_pool = {f"pools.{pool}.{key}": value for key, value in more.items()}
    team = {**TEAM, "gpus": {pool: {"nominalQuota": 1}}}
    data = changed({"teams.vision": team, **of_pool, f"pools.{pool}.instanceTypes": types})
    assert [one.path for one in problems(data)] == [f"pools.{pool}.instanceTypes.{at}" for at in range(len(types))]
    assert all(one.fix.startswith("Did you mean") for one in problems(data))


def in_region(region: str, *zone_ids: str) -> dict[str, Any]:
    zones = [f"{region}a", f"{region}b"]
    return {
        "account.region": region,
        "account.zoneIds": dict(zip(zones, zone_ids, strict=True)),
        "network.zones": zones,
        "pools.h100.zones": zones[:1],
    }


def test_a_region_without_types_of_several_pools_is_one_problem_of_the_region() -> None:
    # us-west-1 offers neither A100 nor L4 (the catalog, 2026-11).
    (problem,) = problems(changed(in_region("us-west-1", "usw1-az1", "usw1-az3")))
    assert problem.path == "account.region"
    assert problem.value == "us-west-1"
    types = {name for pool in ("a100", "l4") for name in listed(problem.rule, pool)}
    assert {"p4d.24xlarge", "g6.xlarge"} <= types
    offering = problem.fix.removesuffix(".").partition("offer the types of all pools: ")[2].split(", ")
    assert "us-east-1" in offering
    for region in offering:
        assert all(instances.get(name).offered_in(region) for name in types), region


def listed(rule: str, pool: str) -> list[str]:
    """The types that a rule lists behind a pool: `a100 (x, y)`."""
    return rule.partition(f"{pool} (")[2].partition(")")[0].split(", ")


def test_a_region_without_the_types_of_one_pool_is_one_problem_of_the_pool() -> None:
    data = changed(
        {
            **in_region("us-west-1", "usw1-az1", "usw1-az3"),
            "pools": {"system": {"preset": "system", "instanceTypes": ["m7i.large"]}, "l4": {"preset": "gpu-spot"}},
            "addons": {"gpuOperator": {}},
        }
    )
    (problem,) = problems(data)
    assert problem.path == "pools.l4.instanceTypes"
    assert problem.rule == "us-west-1 must offer the instance types"
    assert "g6.xlarge" in str(problem.value)
    assert "us-east-1" in problem.fix


def test_a_misspelt_region_is_one_problem_with_the_right_one() -> None:
    (problem,) = problems(changed({"account.region": "us-est-1"}))
    assert problem.path == "account.region"
    assert problem.fix == "Did you mean us-west-1 or us-east-1?"


def test_a_region_whose_zones_are_all_of_another_one_is_one_problem_that_names_both() -> None:
    (problem,) = problems(changed({"account.region": "us-east-2"}))
    assert problem.path == "account.region"
    assert problem.rule == "the zones of the network are in us-east-1"
    assert problem.fix == "Use us-east-1; or zones of us-east-2: us-east-2a, us-east-2b, us-east-2c."


def test_a_zone_of_another_region_among_right_ones_is_a_problem_of_the_zone() -> None:
    found = problems(changed({"network.zones": ["us-east-1a", "us-west-2b"]}))
    assert "network.zones.1" in [one.path for one in found]
    assert "account.region" not in [one.path for one in found]


# For any input, loading returns settings or a report, and never a traceback.


def paths(value: Any, above: str = "") -> list[str]:
    if not isinstance(value, dict):
        return []
    here = {key: f"{above}.{key}" if above else key for key in value}
    return [*here.values(), *(path for key, inner in value.items() for path in paths(inner, here[key]))]


def spellings(model: Any) -> set[str]:
    keys_of_models: set[str] = set()
    for definition in model.model_json_schema()["$defs"].values():
        keys_of_models |= set(definition.get("properties", ()))
    return keys_of_models


VALIDATOR = jsonschema.Draft202012Validator(schema.generate())
KEYS = sorted(spellings(Platform) | set(Platform.model_json_schema()["properties"]) | set(PRESETS))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(
        ["0.0.0.0/0", "10.0.0.0/16", "us-east-1a", "1.35", "m7i.large", "g6.xlarge", "all-balanced", "spot", "CHANGEME"]
    ),
    st.dates(),
    st.binary(max_size=4),
)
keys = st.one_of(st.sampled_from(KEYS), st.text(max_size=8), st.integers(-3, 3), st.none(), st.booleans(), st.dates())
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=5)),
    max_leaves=20,
)


def outcome(data: object) -> Loaded | ConfigurationError:
    try:
        return load(data, stack="test", today=TODAY)
    except ConfigurationError as caught:
        error = caught
    assert error.problems
    assert all(problem.path and problem.rule and problem.fix for problem in error.problems)
    str(error).encode("utf-8")
    return error


@given(values)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_value_gives_settings_or_a_report(data: object) -> None:
    outcome(data)


@given(st.dictionaries(st.sampled_from(paths(BASE)), values, min_size=1, max_size=3))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_a_valid_stack_with_any_values_in_it_gives_settings_or_a_report(changes: dict[str, Any]) -> None:
    try:
        data = changed(changes)
    except (TypeError, KeyError, AttributeError):
        return  # one change removed the parent of another
    if isinstance(outcome(data), Loaded):
        document = {"config": {"slipway:platform": plain_map(data)}}
        assert [error.message for error in VALIDATOR.iter_errors(document)] == [], (
            "an editor would reject a file that loads"
        )


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_in_a_file_gives_settings_or_a_report(tmp_path: Path, text: str) -> None:
    (tmp_path / "Pulumi.test.yaml").write_text(f"config:\n  slipway:platform:\n    {text}", encoding="utf-8")
    try:
        data = read_stack("test", tmp_path)
    except ConfigurationError as error:
        str(error).encode("utf-8")
    else:
        outcome(data)


@pytest.mark.parametrize(
    "path", ["environment.owner", "pools.cpu.max", "network.cidr", "pools.cpu", "pools", "network.zones"]
)
def test_odd_values_anywhere_are_reported(path: str) -> None:
    for value in (math.nan, math.inf, date(2026, 1, 1), b"x", (), {1}, object(), "\ud800", 10**30):
        assert isinstance(outcome(changed({path: value})), ConfigurationError) or isinstance(value, date), repr(value)


def test_excessive_nesting_is_reported() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    assert isinstance(outcome({**BASE, "network": deep}), ConfigurationError)

"""One mistake is one problem, whose text names what to change."""

from typing import Any

import pytest

from spec.catalog import instances
from tests.spec.settings.stack import changed, problems

TEAM: dict[str, Any] = {"project": "p", "costCenter": "c", "gpus": {"l4": {"nominalQuota": 1}}}


@pytest.mark.parametrize(
    ("place", "known"),
    [
        ("namespaces.main", ("podSecurity", "purpose", "share")),
        ("members.lead", ("principalArn", "role")),
        ("gpus.l4", ("borrowingLimit", "lendingLimit", "nominalQuota")),
    ],
)
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
            "pools": {
                "system": {"preset": "system", "instanceTypes": ["m7i.large"]},
                "l4": {"preset": "gpu-spot"},
            },
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
    assert problem.fix.startswith("Did you mean us-west-1 or us-east-1? Use one of af-south-1, ")


def test_a_region_whose_zones_are_all_of_another_one_is_one_problem_that_names_both() -> None:
    (problem,) = problems(changed({"account.region": "us-east-2"}))
    assert problem.path == "account.region"
    assert problem.rule == "the zones of the network are in us-east-1"
    assert problem.fix == "Use us-east-1; or zones of us-east-2: us-east-2a, us-east-2b, us-east-2c."


def test_a_zone_of_another_region_among_right_ones_is_a_problem_of_the_zone() -> None:
    found = problems(changed({"network.zones": ["us-east-1a", "us-west-2b"]}))
    assert "network.zones.1" in [one.path for one in found]
    assert "account.region" not in [one.path for one in found]

"""Documented breaks of upgrades are found, each by its rule; and nothing is found where there is nothing."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from slipway.charts.uses import Use
from slipway.upgrade.plan import plan
from slipway.upgrade.world import World
from spec import strict_yaml

BREAKS: Final[Mapping[str, Mapping[str, Any]]] = strict_yaml.beside(__file__, "breaks")
FOUND: Final = {name: row for name, row in BREAKS.items() if "none" not in row["finds"]}
ANYWAY: Final = {"addresses", "budget", "crossing", "held", "karpenter-kubelet-annotation", "pair", "skipped-release",
                 "stale-definition", "stored-version", "unserved", "webhook"}  # fmt: skip
"""Rules that don't depend on the version of Kubernetes."""
NOW: Final = datetime(2026, 11, 29, 12, tzinfo=UTC)


def deployment(image: str) -> Mapping[str, Any]:
    """A Deployment that runs an image."""
    template = {"spec": {"containers": [{"name": "main", "image": image}]}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "main"}, "spec": {"template": template}}


def planned(row: Mapping[str, Any], **changed: Any) -> list[Mapping[str, Any]]:
    """The findings of the plan of a row."""
    charts = {
        name: Use(release=name, chart=name, version=version, values={})
        for name, version in row.get("charts", {}).items()
    }
    given = {
        "version": row["from"],
        "target": row["to"],
        "there": [*row.get("there", ()), *map(deployment, row.get("run", ()))],
        **{key: row[key] for key in ("audit", "definitions", "free", "planned") if key in row},
        "releases": charts,
        "now": NOW,
    }
    found: list[Mapping[str, Any]] = plan(World(**(given | changed)))["findings"]
    return found


@pytest.mark.parametrize("name", FOUND)
def test_a_documented_break_is_found_by_its_rule(name: str) -> None:
    ((rule, says),) = FOUND[name]["finds"].items()
    found = [f"{one['subject']} {one['text']}; {one['fix']}" for one in planned(FOUND[name]) if one["rule"] == rule]
    assert [one for one in found if says in one], found


@pytest.mark.parametrize("name", [name for name, row in FOUND.items() if not {*row["finds"]} & ANYWAY])
def test_what_breaks_with_a_version_is_not_reported_for_the_one_before(name: str) -> None:
    row = FOUND[name]
    number = int(row["from"].removeprefix("1."))
    earlier = planned(row, version=f"1.{number - 1}", target=row["from"])
    assert [one for one in earlier if one["rule"] in row["finds"]] == []


@pytest.mark.parametrize(
    ("grace", "rule", "until"),
    [("96h", "held", "2026-12-01 00:00"), ("24h", "evicted", "2026-11-30 12:00"), (None, "held", "2026-12-01 00:00")],
)
def test_a_training_loses_its_work_where_its_pool_drains_for_less_than_it_takes(
    grace: str | None, rule: str, until: str
) -> None:
    row = BREAKS["a training that holds its node"]
    spec = {"template": {"spec": {"terminationGracePeriod": grace} if grace else {}}}
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "h100"}, "spec": spec}
    (found,) = planned(row, there=[*row["there"], pool])
    assert (found["rule"], found["waits"]) == (rule, rule == "held")
    assert f"until {until} UTC" in found["text"]


def test_old_replica_sets_dont_run_and_a_newer_proxy_is_in_the_way_back() -> None:
    old = {**deployment("registry.k8s.io/autoscaling/cluster-autoscaler:v1.35.2"), "kind": "ReplicaSet"}
    new = [
        deployment(f"{image}:v1.36.0") for image in ("registry.k8s.io/autoscaling/cluster-autoscaler", "eks/kube-proxy")
    ]
    world = World(version="1.36", target="1.35", there=[old, *new])
    assert world.running() == {"cluster-autoscaler": "1.36.0", "kube-proxy": "1.36.0"}
    assert [one["subject"] for one in plan(world)["findings"]] == ["kube-proxy 1.36.0"]


def test_most_of_the_breaks_are_found_and_enough_that_other_tools_dont_know() -> None:
    assert len(FOUND) / len(BREAKS) >= 18 / 20
    assert sum(not row["sees"] for row in FOUND.values()) >= 8

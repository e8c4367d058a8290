"""Jobs that preempt one another without end: Kueue's own behaviour, and that the shipped configuration avoids it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.addons.kueue import configuration
from slipway.replay import engine
from spec.settings.addons.batch import Kueue
from tests.slipway.replay.inputs import FAIR, GPU, document, job, manifest, pool, queue

NODES = 4
BOTH = {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}


def shipped() -> dict[str, Any]:
    found: dict[str, Any] = configuration(Kueue(), cluster="ml", integrations=("batch/job",))["fairSharing"]
    return found


def lent(name: str, own: int, borrowed: int, weight: int) -> list[dict[str, Any]]:
    """The queue of a team that lends and borrows, as a stack file renders it."""
    preemption = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
    objects = queue(name, own, cohortName="org", preemption=preemption, fairSharing={"weight": str(weight)})
    for resource in objects[0]["spec"]["resourceGroups"][0]["flavors"][0]["resources"]:
        if resource["name"] == GPU:
            resource["borrowingLimit"] = str(borrowed)
    return objects


def evictions(binary: Path, fair: dict[str, Any]) -> int:
    """Of ten minutes in which a gang wants all four nodes, of which another team owns one and borrows two."""
    objects = [manifest("Cohort", "org"), *lent("large", 24, 8, 2), *lent("small", 8, 16, 1)]
    jobs = [
        job("pair", 0, 4000, count=2, queue="small"),
        job("single", 10, 4000, gpus=1, queue="small"),
        job("gang", 20, 4000, count=NODES, queue="large"),
    ]
    given = document(
        jobs,
        objects=objects,
        pools=[pool(scaler="static", min=NODES, max=NODES)],
        configuration={**FAIR, "fairSharing": fair},
        until=600,
    )
    *_, summary = engine.run(given, say=lambda _line: None, binary=binary)
    return int(summary["evictions"])


def test_with_both_rules_of_fair_sharing_kueue_preempts_in_a_circle(binary: Path) -> None:
    """The reason for the shipped setting (kueue#14543). Once this fails, both rules can be had again."""
    assert evictions(binary, BOTH) > 30


def test_the_shipped_rule_ends_the_circle(binary: Path) -> None:
    assert evictions(binary, shipped()) == 0

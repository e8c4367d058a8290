"""The engine's patches of Kueue make the decisions of Kueue as it was released, in less time."""

import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sandbox.toolchain.tools import get
from slipway.replay import engine
from tests.slipway.replay.inputs import FAIR, GPU, document, job, manifest, pool, queue

UNTIL = 8 * 3600.0
FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
PRIORITIES = [manifest("WorkloadPriorityClass", name, value=value) for name, value in (("low", 1), ("high", 2))]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine with Kueue as its go.mod has it."""
    go, build = shutil.which("go"), get("replay").go
    if go is None or build is None:
        pytest.skip("go is not installed")
    assert build.patches
    path = tmp_path_factory.mktemp("released") / "replay"
    environment = {**os.environ, "GOWORK": "off"}
    subprocess.run([go, "build", "-mod=readonly", "-o", path, "."], cwd=build.directory, env=environment, check=True)
    return path


def team(name: str, cohort: str, within: str) -> list[dict[str, Any]]:
    objects = queue(
        name,
        16,
        flavors=("a100", "l4"),
        cohortName=cohort,
        preemption={"reclaimWithinCohort": "Any", "withinClusterQueue": within},
    )
    for flavor in objects[0]["spec"]["resourceGroups"][0]["flavors"]:
        flavor["resources"][-1]["borrowingLimit"] = "16"
    return objects


def jobs(seed: int, *, launchers: bool) -> list[dict[str, Any]]:
    """Jobs of a working day, of which a few are gangs: more GPU hours than there are."""
    draw = random.Random(seed)  # noqa: S311 - a trace, no secret
    made = []
    for number in range(360):
        gang = draw.random() < 0.08
        one = job(
            f"j{number:03}",
            round(draw.random() * UNTIL, 3),
            round(draw.expovariate(1 / 4000) + 60, 3),
            gpus=8 if gang else draw.choice([1, 1, 1, 2, 4]),
            count=draw.choice([2, 3, 4]) if gang else 1,
            queue=draw.choice(["one", "two", "three"]),
            priorityClass=draw.choice(["low", "high"]),
        )
        only = draw.choice(["a100", "l4", None])
        one["podSets"][0]["nodeSelector"] = {"pool": only} if only else {}
        if launchers and gang:
            launcher = {**one["podSets"][0], "name": "launcher", "count": 1, "requests": {"cpu": "1", GPU: "1"}}
            one["podSets"].insert(0, {**launcher, "nodeSelector": {"pool": "l4"}})
            one["podSets"][1]["nodeSelector"] = {"pool": "a100"}
        made.append(one)
    return made


def lines(binary: Path, given: dict[str, Any]) -> list[dict[str, Any]]:
    first, *events = engine.run(given, say=lambda _line: None, binary=binary)
    assert first["kind"] == "engine"
    events[-1].pop("wallSeconds")
    return events


@pytest.mark.parametrize(
    ("within", "strategies", "cohort", "launchers"),
    [
        ("LowerPriority", [FINAL], "org", False),
        ("LowerPriority", [FINAL, INITIAL], "org", True),
        ("LowerOrNewerEqualPriority", [FINAL], "org", False),
        ("Never", [FINAL], "org", True),
        ("LowerPriority", None, "org", False),
        ("LowerPriority", [FINAL], "part", False),
    ],
    ids=["shipped", "both rules, pods on two flavors", "newer", "never", "no fair sharing", "cohort in a cohort"],
)
def test_decisions_are_those_of_kueue_as_released(
    binary: Path, released: Path, within: str, strategies: list[str] | None, cohort: str, *, launchers: bool
) -> None:
    flavors = [manifest("ResourceFlavor", "l4", {"nodeLabels": {"pool": "l4"}})]
    inner = [manifest("Cohort", cohort, {"parentName": "org"})] if cohort != "org" else []
    cohorts = [manifest("Cohort", "org"), *inner]
    teams = [*team("one", cohort, within), *team("two", cohort, within), *team("three", "org", within)]
    fair = {"fairSharing": {"preemptionStrategies": strategies}} if strategies else {}
    timeout = {"timeout": "10m", "requeuingStrategy": {"backoffBaseSeconds": 60, "backoffLimitCount": 2}}
    given = document(
        jobs(1, launchers=launchers),
        objects=[*PRIORITIES, *flavors, *cohorts, *teams],
        pools=[pool(name=name, labels={"pool": name}, max=6) for name in ("a100", "l4")],
        configuration={**FAIR, **fair, "waitForPodsReady": timeout},
        until=UNTIL,
    )
    given["kueue"]["objects"][0]["spec"] = {"nodeLabels": {"pool": "a100"}}
    ours = lines(binary, given)
    assert ours == lines(released, given)
    counts = ours[-1]
    assert counts["evictions"] > 100, "too little happens"
    assert counts["jobs"]["finished"] > 200

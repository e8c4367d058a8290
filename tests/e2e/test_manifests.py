"""Manifests in a sandbox with Kueue: the example of `slipway try`, and `slipway why` of the same files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from slipway import toolchain
from tests.e2e.world import REPOSITORY, World

pytestmark = pytest.mark.sandbox

MANIFESTS: Final = REPOSITORY / "examples" / "manifests"
LAYERS: Final = {
    "job/right": "accepted",
    "job/no-toleration": "admission",
    "job/no-queue": "queue",
    "job/beyond-quota": "quota",
    "job/beyond-node": "admission",
    "job/wrong-claim": "volume",
    "job/wrong-priority": "admission",
    "job/no-deadline": "admission",
}


@pytest.fixture(scope="module")
def queued(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Stack dev with Kueue, and no other chart."""
    whole = shared / "charts-full"
    if not whole.is_dir():
        pytest.skip(f"{whole} has no charts with templates: this test installs Kueue's")
    if toolchain.find("kueue") is None:
        pytest.skip("no kueue here: run `python -m slipway.toolchain ensure kueue`")
    directory = tmp_path_factory.mktemp("manifests")
    charts = directory / "charts"
    charts.mkdir()
    (charts / "kueue").symlink_to(whole / "kueue")
    world = World.make(directory, charts)
    try:
        world.succeed("up", "dev", "--sandbox")
        yield world
    finally:
        world.run("sandbox", "stop")


def test_every_expectation_of_the_example_is_met(queued: World) -> None:
    output = queued.succeed("try", str(MANIFESTS), "--stack", "dev", "--sandbox")
    assert "11 passed, 0 failed" in output


def test_before_submission_each_wrong_manifest_names_its_layer(queued: World) -> None:
    found: list[Any] = []
    for name in ("right", "wrong"):
        done = queued.run(
            "why", str(MANIFESTS / f"{name}.yaml"), "-n", "vision", "--stack", "dev", "--sandbox", "--json"
        )
        found += json.loads(done.stdout[done.stdout.index("[") :])
    assert {one["subject"]: one["layer"] for one in found} == LAYERS
    assert all(one["next"] for one in found if one["held"])


def test_a_namespace_of_no_team_is_said(queued: World) -> None:
    output = queued.succeed("why", str(MANIFESTS / "right.yaml"), "--stack", "dev", "--sandbox")
    assert "not read: rules, pools and shares of a team: namespace default is no team's" in output


def test_a_trial_that_is_not_met_fails_with_the_answer(queued: World, tmp_path: Path) -> None:
    (tmp_path / "right.yaml").write_text((MANIFESTS / "right.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    expect = "namespace: vision\nwithin: 3s\nexpect: {job/right: {runsOn: h100}}\n"
    (tmp_path / "try.yaml").write_text(expect, encoding="utf-8")
    done = queued.run("try", str(tmp_path), "--stack", "dev", "--sandbox")
    assert done.returncode == 1
    assert "job/right: a pod is on a100" in done.stdout

"""Every kind of workload with the stack's own controllers: to its end, preempted once, its node taken once.

The table is in `tests/e2e/workloads/rows.py`; the YAML of each row is what a user would write.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from slipway import toolchain
from tests.e2e.workloads.life import Life
from tests.e2e.workloads.rows import DEV, Row
from tests.e2e.workloads.waves import targets, waves
from tests.e2e.world import World

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

REPEATS: Final = int(os.environ.get("SLIPWAY_REPEATS", "0"))
"""How often the whole table runs, each with the same result; by default not at all, because it takes minutes."""
CONTROLLERS: Final = (
    "jobset",
    "karpenter",
    "kserve",
    "kuberay",
    "kueue",
    "mpi-operator",
    "trainer",
    "training-operator",
)
CHARTS: Final = (
    "cert-manager", "jobset", "karpenter", "karpenter-crd", "kserve-crd", "kserve-resources", "kubeflow-trainer",
    "kuberay-operator", "kueue",
)  # fmt: skip
KUBERAY: Final = "      kuberay: {replicas: 1}\n"
STEPS: Final = ("runs", "preempted", "resumed", "without its node")
ENDED: Final = "ended"


@pytest.fixture(scope="module")
def dev_world(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Stack dev with Kubeflow's older operators, the charts of controllers alone, and all of these."""
    if not REPEATS:
        pytest.skip("SLIPWAY_REPEATS is not set: it says how often the table of workloads runs")
    whole = shared / "charts-full"
    if not whole.is_dir():
        pytest.skip(f"{whole} has no charts with templates: this test installs those of controllers")
    missing = [name for name in CONTROLLERS if toolchain.find(name) is None]
    if missing:
        pytest.skip(f"not built: run `python -m slipway.toolchain ensure {' '.join(missing)}`")
    directory = tmp_path_factory.mktemp("workloads")
    charts = directory / "charts"
    charts.mkdir()
    for name in CHARTS:
        if (whole / name).is_dir():
            (charts / name).symlink_to(whole / name)
    world = World.make(directory, charts)
    operators = "".join(f"      {name}: {{replicas: 1}}\n" for name in ("trainingOperator", "mpiOperator"))
    world.edit("stacks/Pulumi.dev.yaml", KUBERAY, KUBERAY + operators)
    try:
        world.succeed("up", "dev", "--sandbox")
        yield world
    finally:
        world.run("sandbox", "stop")


def run(world: World, rows: tuple[Row, ...]) -> list[Life]:
    """The table once."""
    stack = rows[0].stack
    return waves(world.api(stack), targets(stack, world.checkout / "stacks", rows), rows)


@pytest.mark.parametrize("repeat", range(max(1, REPEATS)))
def test_each_kind_on_dev_runs_is_preempted_loses_its_node_and_ends(dev_world: World, repeat: int) -> None:
    lives = run(dev_world, DEV)
    table = "\n".join(life.text() for life in lives)
    print(f"repeat {repeat}:\n{table}")
    assert not [life.text() for life in lives if life.failed], table
    for life in lives:
        assert list(life.done) == [*STEPS, *([] if life.row.ends is None else [ENDED])]

"""Every kind of workload with the stack's own controllers: to its end, preempted once, its node taken once.

The table is in `tests/e2e/workloads/rows.py`; the YAML of each row is what a user would write. With
`SLIPWAY_KUBERNETES_PROVIDER=official` the stacks come up with Pulumi's own Kubernetes provider.
"""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from components.workloads import Target
from sandbox import toolchain
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.official import VARIABLE
from slipway.trial.run import submit
from slipway.why.manifests import DryRun
from tests.e2e import official
from tests.e2e.workloads.answers import of_cluster
from tests.e2e.workloads.load import Load
from tests.e2e.workloads.rows import BY_STACK, SCALED, Row
from tests.e2e.workloads.waves import targets, waves
from tests.e2e.workloads.wrong import WRONG
from tests.e2e.world import World, some_charts

pytestmark = pytest.mark.sandbox

REPEATS: Final = int(os.environ.get("SLIPWAY_REPEATS", "1"))
"""How often the whole table runs, each with the same result."""
CONTROLLERS: Final = (
    "jobset", "karpenter", "kserve", "kuberay", "kueue", "mpi-operator", "trainer", "training-operator",
)  # fmt: skip
CHARTS: Final = (
    "cert-manager", "cluster-autoscaler", "jobset", "karpenter", "karpenter-crd", "keda", "kserve-crd",
    "kserve-resources", "kubeflow-trainer", "kuberay-operator", "kueue",
)  # fmt: skip
OLDER: Final = "      trainingOperator: {replicas: 1}\n      mpiOperator: {replicas: 1}\n"
ADDED: Final = {
    "dev": ("      kuberay: {replicas: 1}\n", f"{OLDER}      keda: {{replicas: 1}}\n"),
    "prod": ("      kuberay: {}\n", OLDER),
}
"""Add-ons that a stack gets besides its own, and the line after which they are in its file."""
BEYOND: Final = 1000
"""Requests that wait for a model, far beyond what its maximum of pods serves."""
LOOKS: Final = 2
LOOK_SECONDS: Final = 16
"""The autoscaler looks every 15 s."""
STEPS: Final = ("runs", "preempted", "resumed", "without its node")
ENDED: Final = "ended"


@dataclass(frozen=True)
class Place:
    """A stack that is up, with Kubeflow's older operators, the charts of controllers alone, and all of these."""

    world: World
    stack: str

    @property
    def client(self) -> KubeClient:
        """With an administrator's rights."""
        return self.world.api(self.stack)

    def targets(self, rows: Sequence[Row]) -> dict[str, Target]:
        """What the stack offers, by namespace."""
        return targets(self.stack, self.world.checkout / "stacks", rows)


@pytest.fixture(scope="module", params=tuple(ADDED))
def place(request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One stack after the other: their controllers share two processors with everything else."""
    whole = shared / "charts-full"
    if not whole.is_dir():
        pytest.skip(f"{whole} has no charts with templates: this test installs those of controllers")
    missing = [name for name in CONTROLLERS if toolchain.find(name) is None]
    if missing:
        pytest.skip(f"not built: run `python -m sandbox.toolchain ensure {' '.join(missing)}`")
    stack = str(request.param)
    directory = tmp_path_factory.mktemp(f"workloads-{stack}")
    world = _world(directory, shared)
    line, more = ADDED[stack]
    world.edit(f"stacks/Pulumi.{stack}.yaml", line, line + more)
    try:
        world.succeed("up", stack, "--sandbox")
        yield Place(world, stack)
    finally:
        world.run("sandbox", "stop")


def _world(directory: Path, shared: Path) -> World:
    """With our Kubernetes provider and the charts of controllers; or with the official provider, and all charts."""
    if os.environ.get(VARIABLE):
        provider = official.find()
        assert provider is not None, f"{VARIABLE} is set, and there is no official provider"
        return official.make(directory, provider, shared / "charts-full")
    there = (name for name in CHARTS if (shared / "charts-full" / name).is_dir())
    return World.make(directory, some_charts(shared, there, directory / "charts"))


@pytest.mark.parametrize("repeat", range(REPEATS))
def test_each_kind_runs_is_preempted_loses_its_node_and_ends(place: Place, repeat: int) -> None:
    rows = BY_STACK[place.stack]
    began = time.monotonic()
    lives = waves(place.client, place.targets(rows), rows)
    table = "\n".join(life.text() for life in lives)
    print(f"{place.stack}, repeat {repeat}, {time.monotonic() - began:.0f} s:\n{table}")
    assert not [life.text() for life in lives if life.failed], table
    for life in lives:
        assert list(life.done) == [*STEPS, *([] if life.row.ends is None else [ENDED])]


@pytest.mark.parametrize("place", ["dev"], indirect=True)
def test_a_wrong_variant_is_held_by_the_layer_that_refuses_it(place: Place) -> None:
    variants = [each for each in WRONG if each.stack == place.stack]
    rows = BY_STACK[place.stack]
    found = of_cluster(place.client, variants, place.targets(rows))
    print("\n".join(f"{each.name}: {found[each.name].text()}" for each in variants))
    assert [each.name for each in variants if not each.cluster.is_said(found[each.name])] == []
    assert [each.name for each in variants if found[each.name].planned != each.refused] == []


def test_a_model_scales_up_and_down_by_its_load_and_its_maximum_holds(place: Place) -> None:
    row, client = SCALED[place.stack], place.client
    objects = [*row.component(place.targets([row])[row.namespace]), *row.twin()]
    refs = [Ref(each["apiVersion"], each["kind"], each["metadata"]["name"], row.namespace) for each in objects]
    names = [ref.name for ref in refs if ref.kind == row.subject]
    assert names == ["scaled-typed", "scaled-yaml"]
    load = Load(client, row.namespace)
    try:
        for manifest in objects:
            assert submit(client, manifest, row.namespace, DryRun(client, row.namespace).member) == ""
        for name in names:
            load.is_now(name, 0)
            load.on(name)
        load.wait(names, 1)
        # One pod for five requests, and three at most.
        for waiting, pods in ((8, 2), (BEYOND, 3), (0, 1)):
            for name in names:
                load.is_now(name, waiting)
            load.wait(names, pods)
            if waiting == BEYOND:
                time.sleep(LOOKS * LOOK_SECONDS)
                assert [load.pods(name) for name in names] == [pods, pods]
    finally:
        for ref in refs:
            client.delete(ref, "Foreground")
        load.end()

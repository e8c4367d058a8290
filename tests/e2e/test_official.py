"""Stacks dev and prod with Pulumi's own Kubernetes provider, and whether ours agrees with it.

The official provider reaches the cluster as on EKS and waits for pods, volumes and releases; our provider then previews
the same program on the same state.
"""

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox import toolchain
from sandbox.kubernetes.controllers.running import State
from sandbox.kubernetes.controllers.running import load as load_controllers
from sandbox.kubernetes.objects import condition
from sandbox.kubernetes.waiting import until
from sandbox.state import load
from tests.e2e import official
from tests.e2e.agreement import RELEASE, differences, errors, types
from tests.e2e.cloud import contents, unneeded
from tests.e2e.world import World, counts
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

MISSING = (
    "no official Kubernetes provider: run `python -m sandbox.toolchain ensure pulumi-kubernetes`, or "
    "`pulumi plugin install resource kubernetes`"
)
OF_CHARTS = ("jobset", "karpenter", "kueue")
"""Controllers that both stacks install."""
ADDED_LABEL = {"CHANGE": "label"}


@pytest.fixture(scope="module")
def both(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A checkout and a sandbox that run with the official provider."""
    provider = official.find()
    if provider is None:
        pytest.skip(MISSING)
    samples = shared / "charts-full"
    if not samples.is_dir():
        pytest.skip("SLIPWAY_SHARED names no directory with whole charts (charts-full)")
    world = official.make(tmp_path_factory.mktemp("official"), provider, samples)
    try:
        yield world
    finally:
        world.run("sandbox", "stop")


@pytest.fixture(scope="module", params=["dev", "prod"])
def stack(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def up(both: World, stack: str) -> str:
    """The output of `slipway up`."""
    return both.succeed("up", stack, "--sandbox")


def preview(world: World, stack: str, *, ours: bool, change: str = "") -> str:
    """`pulumi preview --json` by a provider."""
    variables: dict[str, str] = {**world.environment, **world.variables(stack), "CHANGE": change}
    # Its PATH has the sandbox's folders first, and no host in them.
    if ours:
        state = load(world.home)
        assert state is not None
        variables["PULUMI_DEBUG_PROVIDERS"] += f",kubernetes:{state.kubernetes_provider_port}"
    done = subprocess.run(
        ["pulumi", "preview", "--stack", stack, "--json", "--show-sames", "--non-interactive"],
        cwd=world.checkout, env=variables, capture_output=True, text=True, timeout=official.SECONDS, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    if refused := errors(done.stdout):
        pytest.fail("\n".join(refused), pytrace=False)
    return done.stdout


def unready(world: World, stack: str) -> dict[str, str]:
    """Pods that neither run nor succeeded."""
    found: list[Mapping[str, Any]] = world.api(stack).get_path("/api/v1/pods")["items"]
    assert found
    phases = {pod["metadata"]["name"]: str(pod["status"]["phase"]) for pod in found}
    return {name: phase for name, phase in phases.items() if phase not in ("Running", "Succeeded")}


def test_up_awaits_every_resource_and_release(up: str, both: World, stack: str) -> None:
    assert counts(up).keys() == {"created"}
    assert counts(up)["created"] > 400
    # Pods of DaemonSets on the last nodes are in no resource's await.
    until(lambda: None if unready(both, stack) else True, SECONDS, f"not running: {unready(both, stack)}")


def test_the_controllers_of_its_charts_run(up: str, both: World) -> None:
    """As with our provider: their Deployments start them."""
    built = {name for name in OF_CHARTS if toolchain.find(name) is not None}

    def missing() -> set[str]:
        return built - {each.name for each in load_controllers(both.home) if each.state is State.RUNNING}

    until(lambda: None if missing() else True, SECONDS, lambda: f"not running: {load_controllers(both.home)}")


def test_pools_are_those_of_karpenter_or_have_their_nodes(up: str, both: World, stack: str) -> None:
    """Whoever applied a NodePool: where Karpenter runs it is ready, elsewhere it has a placeholder node.

    Managed node groups, as prod has for its reserved capacity, have their nodes either way.
    """

    def found() -> dict[str, bool]:
        """Whether each pool is as it should be."""
        nodes = both.api(stack).get_path("/api/v1/nodes")["items"]
        pools = {node["metadata"]["labels"]["platform.slipway/pool"]: True for node in nodes}
        if toolchain.find("karpenter") is not None:
            made = both.api(stack).get_path("/apis/karpenter.sh/v1/nodepools")["items"]
            pools |= {pool["metadata"]["name"]: condition(pool, "Ready").get("status") == "True" for pool in made}
        return pools

    wanted = dict.fromkeys(("system", "cpu", "a100", "h100", "gpu-spot"), True)
    until(lambda: True if found() == wanted else None, SECONDS, lambda: f"{found()} and not {wanted}")


def test_ours_accepts_the_same_program_on_the_same_state_without_a_change(up: str, both: World, stack: str) -> None:
    by_both = [preview(both, stack, ours=ours) for ours in (False, True)]
    found = differences(*by_both)
    assert found == [], "\n".join(map(str, found))
    assert RELEASE in types(by_both[0], "same")


@pytest.mark.parametrize(
    ("change", "operation", "expected"),
    [
        ("label", "update", {"kubernetes:core/v1:Namespace", "kubernetes:karpenter.sh/v1:NodePool"}),
        ("name", "replace", {"kubernetes:core/v1:ConfigMap", "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"}),
    ],
)
def test_both_plan_the_same_for_a_change_of_every_resource(
    up: str, both: World, stack: str, change: str, operation: str, expected: set[str]
) -> None:
    """Fields: tests/sandbox/kubernetes/test_official.py. The provider that is built fails to preview the replacement
    of one that can't be updated: it asks for it under the name of the old object."""
    by_both = [preview(both, stack, ours=ours, change=change) for ours in (False, True)]
    found = differences(*by_both)
    assert found == [], "\n".join(map(str, found))
    assert expected <= types(by_both[0], operation)


def test_a_change_is_made_and_a_refresh_finds_no_drift(up: str, both: World, stack: str) -> None:
    changed = replace(both, more={**both.more, **ADDED_LABEL}).succeed("up", stack, "--sandbox")
    assert counts(changed)["updated"] > 100
    assert counts(changed).keys() == {"updated", "unchanged"}
    assert counts(both.succeed("refresh", stack, "--sandbox")).keys() == {"unchanged"}


def test_destroy_ends_with_everything_deleted(up: str, both: World, stack: str) -> None:
    done = both.succeed("destroy", stack, "--sandbox", "--yes")
    assert counts(done).keys() == {"deleted"}
    assert unneeded(contents(both.variables(stack))) == {}
    assert f"slipway-{stack}:" not in both.succeed("sandbox", "status")

"""A cluster with a private endpoint: the network first, then everything else."""

import json
from collections.abc import Iterator

import pytest

from tests.e2e.world import BRIEF, World

pytestmark = pytest.mark.sandbox

STACK = "private"


@pytest.fixture
def stack(world: World) -> Iterator[str]:
    """Brief under another name: its endpoint is private, and one peer reaches it."""
    path = world.checkout / "stacks" / f"Pulumi.{STACK}.yaml"
    path.write_text(BRIEF.replace("name: brief", f"name: {STACK}"), encoding="utf-8")
    try:
        yield STACK
    finally:
        world.run("destroy", STACK, "--sandbox", "--yes")
        path.unlink()


def test_the_network_comes_first_and_the_next_run_adds_the_rest(world: World, stack: str) -> None:
    world.succeed("up", stack, "--sandbox", "--network-only")
    first = types(world, stack)
    assert "aws:ec2/vpc:Vpc" in first
    assert not [kind for kind in first if kind.startswith(("aws:eks", "kubernetes:", "pulumi:providers:kubernetes"))]
    world.succeed("up", stack, "--sandbox")
    second = types(world, stack)
    assert "aws:eks/cluster:Cluster" in second
    assert any(kind.startswith("kubernetes:") for kind in second)
    refused = world.run("up", stack, "--sandbox", "--network-only")
    assert refused.returncode != 0
    assert f"run `slipway up {stack}`" in refused.stdout


def types(world: World, stack: str) -> set[str]:
    path = world.home / "pulumi" / ".pulumi" / "stacks" / "slipway" / f"{stack}.json"
    checkpoint = json.loads(path.read_text(encoding="utf-8"))["checkpoint"]["latest"]
    return {resource["type"] for resource in checkpoint["resources"]}

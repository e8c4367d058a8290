"""A cluster with a private endpoint: the network first, then everything else."""

from collections.abc import Iterator

import pytest

from tests.e2e.world import World

pytestmark = pytest.mark.sandbox


@pytest.fixture
def stack(world: World) -> Iterator[str]:
    """Its endpoint is private, and one peer reaches it."""
    with world.stack("private") as name:
        yield name


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
    return {resource["type"] for resource in world.resources(stack)}

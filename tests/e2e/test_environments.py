"""The other environments: the same program, other data."""

from __future__ import annotations

import pytest

from tests.e2e.world import World, counts

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize("stack", ["staging", "prod"])
def test_an_environment_comes_up_and_then_does_not_change(world: World, stack: str) -> None:
    assert counts(world.succeed("up", stack, "--sandbox"))["created"] > 100
    assert counts(world.succeed("preview", stack, "--sandbox")).keys() == {"unchanged"}


def test_prod_refuses_to_be_destroyed_and_names_what_is_protected(world: World) -> None:
    done = world.run("destroy", "prod", "--sandbox", "--yes")
    assert done.returncode != 0
    for kept in ("cluster-control-plane", "cluster-key", "cluster-logs", "network-vpc"):
        assert kept in done.stdout
    assert counts(world.succeed("preview", "prod", "--sandbox")).keys() == {"unchanged"}

"""The other environments: the same program, other data."""

from __future__ import annotations

import pytest

from tests.e2e.world import World, counts

pytestmark = pytest.mark.sandbox


def test_staging_comes_up_and_then_does_not_change(world: World) -> None:
    assert counts(world.succeed("up", "staging", "--sandbox"))["created"] > 100
    assert counts(world.succeed("preview", "staging", "--sandbox")).keys() == {"unchanged"}


def test_prod_comes_up_does_not_change_and_refuses_to_be_destroyed(world: World) -> None:
    assert counts(world.succeed("up", "prod", "--sandbox"))["created"] > 100
    done = world.run("destroy", "prod", "--sandbox", "--yes")
    assert done.returncode != 0
    for kept in ("cluster-control-plane", "cluster-key", "cluster-logs", "network-vpc"):
        assert kept in done.stdout
    assert counts(world.succeed("preview", "prod", "--sandbox")).keys() == {"unchanged"}

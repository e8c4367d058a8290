"""One sandbox for all tests of whole stacks; a stack is brought up once and shared by the tests that only look."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.world import World, charts


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A checkout and a sandbox, stopped at the end."""
    made = World.make(tmp_path_factory.mktemp("world"))
    try:
        yield made
    finally:
        made.run("sandbox", "stop")


@pytest.fixture(scope="session")
def dev(world: World) -> str:
    """Stack dev, up; what `slipway up` printed."""
    return world.succeed("up", "dev", "--sandbox")


@pytest.fixture(scope="session")
def small(world: World) -> str:
    """Stack small, up; what `slipway up` printed."""
    return world.succeed("up", "small", "--sandbox")


@pytest.fixture(scope="session")
def prod(world: World) -> str:
    """Stack prod, up, with every chart where the shared samples are at hand; what `slipway up` printed."""
    return world.succeed("up", "prod", "--sandbox", more=charts())

"""Sandboxes for all tests of whole stacks; a stack is brought up once and shared by the tests that only read it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.isolation import isolated
from tests.e2e.world import World


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A checkout and a sandbox without charts, stopped at the end."""
    yield from _stopped_afterwards(World.make(tmp_path_factory.mktemp("world")))


@pytest.fixture(scope="session")
def charted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The same with whole charts, if the shared samples are available, and without a network, if the machine allows it.

    Helm installs them, and the pods of a stack take one to two minutes.
    """
    samples = os.environ.get("SLIPWAY_SHARED")
    charts = Path(samples) / "charts-full" if samples else None
    with isolated() as prefix:
        yield from _stopped_afterwards(World.make(tmp_path_factory.mktemp("charted"), charts, prefix))


def _stopped_afterwards(world: World) -> Iterator[World]:
    try:
        yield world
    finally:
        world.run("sandbox", "stop")


@pytest.fixture(scope="session")
def dev(world: World) -> str:
    """The output of `slipway up` for stack dev."""
    return world.succeed("up", "dev", "--sandbox")


@pytest.fixture(scope="session")
def prod(charted: World) -> str:
    """The output of `slipway up` for stack prod."""
    return charted.succeed("up", "prod", "--sandbox", "--verbose")

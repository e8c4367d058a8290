"""Sandboxes for all tests of whole stacks; a stack is brought up once and shared by the tests that only look."""

from __future__ import annotations

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
    """The same, with every chart where the shared samples are at hand, and without a network where that can be had.

    The CRDs take some 15 s of CPU a stack.
    """
    samples = os.environ.get("SLIPWAY_SHARED")
    charts = Path(samples) / "charts" if samples else None
    with isolated() as prefix:
        yield from _stopped_afterwards(World.make(tmp_path_factory.mktemp("charted"), charts, prefix))


def _stopped_afterwards(made: World) -> Iterator[World]:
    try:
        yield made
    finally:
        made.run("sandbox", "stop")


@pytest.fixture(scope="session")
def dev(world: World) -> str:
    """Stack dev, up; what `slipway up` printed."""
    return world.succeed("up", "dev", "--sandbox")


@pytest.fixture(scope="session")
def prod(charted: World) -> str:
    """Stack prod, up; what `slipway up` printed."""
    return charted.succeed("up", "prod", "--sandbox")

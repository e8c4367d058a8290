"""`slipway rehearse`: which scenarios it plays, and when it refuses to."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from sandbox.kubernetes.client import KubeClient, NoSuchKindError
from slipway.cli import rehearse
from slipway.engine.project import Project
from spec.errors import SlipwayError
from tests.support.stacks import platform_of

PROJECT = Project(Path(__file__).resolve().parents[3])


class Served:
    """A cluster that serves these kinds."""

    def __init__(self, *kinds: str) -> None:
        self.kinds, self.discovery = kinds, self

    def find(self, api_version: str, kind: str) -> Any:
        if kind not in self.kinds:
            raise NoSuchKindError(api_version, kind)
        return kind


def test_a_stack_without_its_charts_is_refused_with_the_command() -> None:
    platform = platform_of("dev")
    with pytest.raises(SlipwayError, match=r"Kueue does not run.*SLIPWAY_CHARTS=DIR slipway up dev --sandbox"):
        rehearse._require_queues(cast("KubeClient", Served()), platform, "dev")
    rehearse._require_queues(cast("KubeClient", Served("LocalQueue")), platform, "dev")


def test_scenarios_are_those_of_the_stack() -> None:
    names = [one.name for one in rehearse._scenarios([], PROJECT, "dev")]
    assert names == [path.stem for path in sorted((PROJECT.root / "scenarios").glob("*.yaml"))]
    with pytest.raises(SlipwayError, match="has no scenario of stack prod"):
        rehearse._scenarios([], PROJECT, "prod")
    with pytest.raises(SlipwayError, match="gang is of stack dev, not of prod"):
        rehearse._scenarios([PROJECT.root / "scenarios" / "gang.yaml"], PROJECT, "prod")

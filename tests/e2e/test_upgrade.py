"""An upgrade of the cluster's version is rehearsed: the API server restarts with the APIs of the new one."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.kubernetes.objects import Ref
from spec.catalog import kubernetes
from tests.e2e.world import BRIEF, World

pytestmark = pytest.mark.sandbox
STACK = "upgrade"
AFTER = kubernetes.DEFAULT
BEFORE = next(version for version in kubernetes.VERSIONS if kubernetes.next_minor(version) == AFTER)


def test_an_upgrade_restarts_the_api_server_with_the_new_version(world: World) -> None:
    file = f"stacks/Pulumi.{STACK}.yaml"
    text = BRIEF.replace("name: brief", f"name: {STACK}")
    text = text.replace("    cluster:\n", f'    cluster:\n      version: "{BEFORE}"\n')
    (world.checkout / file).write_text(text, encoding="utf-8")
    assert f"Kubernetes {BEFORE} is emulated" in world.succeed("up", STACK, "--sandbox")
    assert emulated(world) == BEFORE
    kept = Ref("v1", "ConfigMap", "kept", "default")
    world.api(STACK).apply(kept.as_object(), "test")

    world.edit(file, f'version: "{BEFORE}"', f'version: "{AFTER}"')
    assert f"Kubernetes {AFTER} is emulated" in world.succeed("up", STACK, "--sandbox")
    assert emulated(world) == AFTER
    assert world.api(STACK).get(kept) is not None
    world.succeed("destroy", STACK, "--sandbox", "--yes")


def emulated(world: World) -> str:
    version: dict[str, Any] = world.api(STACK).get_path("/version")
    return f"{version['emulationMajor']}.{version['emulationMinor']}"

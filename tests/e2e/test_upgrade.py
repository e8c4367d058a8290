"""An upgrade of the cluster's version is rehearsed: previewed, then the API server restarts with the new APIs."""

from typing import Any

import pytest

from sandbox.kubernetes.objects import Ref
from spec.catalog import kubernetes
from tests.e2e.world import BRIEF, World, counts, updated

pytestmark = pytest.mark.sandbox
STACK = "upgrade"
AFTER = kubernetes.DEFAULT
STORAGE = "    storage: {efs: {}, lustre: {deploymentType: SCRATCH_2}}\n"
"""Its security groups admit the group that EKS makes for the cluster."""
BEFORE = next(version for version in kubernetes.VERSIONS if kubernetes.next_minor(version) == AFTER)


def test_an_upgrade_restarts_the_api_server_with_the_new_version(world: World) -> None:
    file = f"stacks/Pulumi.{STACK}.yaml"
    text = BRIEF.replace("name: brief", f"name: {STACK}")
    text = text.replace("    cluster:\n", f'    cluster:\n      version: "{BEFORE}"\n')
    (world.checkout / file).write_text(text + STORAGE, encoding="utf-8")
    assert f"Kubernetes {BEFORE} is emulated" in world.succeed("up", STACK, "--sandbox")
    assert emulated(world) == BEFORE
    kept = Ref("v1", "ConfigMap", "kept", "default")
    world.api(STACK).apply(kept.as_object(), "test")

    world.edit(file, f'version: "{BEFORE}"', f'version: "{AFTER}"')
    preview = world.succeed("preview", STACK, "--sandbox")
    assert counts(preview).keys() == {"to update", "unchanged"}
    assert "cluster-control-plane" in updated(preview)
    assert emulated(world) == BEFORE
    done = world.succeed("up", STACK, "--sandbox")
    assert f"Kubernetes {AFTER} is emulated" in done
    assert updated(done) == updated(preview)
    assert emulated(world) == AFTER
    assert counts(world.succeed("preview", STACK, "--sandbox")).keys() == {"unchanged"}
    assert world.api(STACK).get(kept) is not None
    world.succeed("destroy", STACK, "--sandbox", "--yes")


def emulated(world: World) -> str:
    version: dict[str, Any] = world.api(STACK).get_path("/version")
    return f"{version['emulationMajor']}.{version['emulationMinor']}"

"""The other environments: the same program with other settings."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.notes import NoteKind, load_notes
from slipway.verify import preemption
from spec.errors import EXIT_PROTECTED
from tests.e2e import isolation
from tests.e2e.cloud import unneeded
from tests.e2e.world import REPOSITORY, World, counts

pytestmark = pytest.mark.sandbox


def test_staging_comes_up_and_is_destroyed(world: World) -> None:
    assert counts(world.succeed("up", "staging", "--sandbox"))["created"] > 100
    _destroyed(world, "staging")


def test_prod_comes_up_does_not_change_and_refuses_to_be_destroyed(prod: str, charted: World) -> None:
    assert counts(prod)["created"] > 100
    done = charted.run("destroy", "prod", "--sandbox", "--yes")
    assert done.returncode == EXIT_PROTECTED
    for kept in ("cluster-control-plane", "cluster-key", "cluster-logs", "network-vpc"):
        assert kept in done.stdout
    assert counts(charted.succeed("preview", "prod", "--sandbox")).keys() == {"unchanged"}


@pytest.fixture
def namespace() -> None:
    if not isolation.possible():
        pytest.skip("a network namespace needs Linux, unshare(1), nsenter(1) and root")


def test_prod_came_up_without_a_network_or_a_credential(namespace: None, prod: str, charted: World) -> None:
    assert not [name for name in charted.environment if name.startswith(("AWS_", "PULUMI_ACCESS"))]
    # A documentation address (RFC 5737): with a network this would time out instead of failing at once.
    code = "import socket; socket.create_connection(('192.0.2.1', 80), 5)"
    tried = subprocess.run([*charted.prefix, sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Network is unreachable" in tried.stderr


def test_every_release_and_custom_resource_of_prod_was_checked(shared: Path, prod: str, charted: World) -> None:
    """With all charts available."""
    notes = load_notes(charted.home)
    assert notes
    checked = (NoteKind.INSTALLED, NoteKind.CHECKED, NoteKind.LEFT_OUT, NoteKind.SIMULATED)
    others = [note for note in notes if note.kind not in checked and "aws:eks/addon:Addon::" not in note.urn]
    assert not others, "\n".join(f"{note.urn.rpartition('::')[2]}: {note.kind}: {note.text}" for note in others)
    assert not [note for note in notes if "the release names" in note.text], "a chart of another version"
    (releases,) = [line for line in prod.splitlines() if line.startswith("Helm releases: ")]
    assert "recorded" not in releases


def test_verify_asks_for_a_model_of_prod_and_claims_nothing_that_only_aws_can_show(
    shared: Path, prod: str, charted: World
) -> None:
    """With all charts available. What is asserted needs no Job to end."""
    charted.run("verify", "prod", "--sandbox", "--minutes", "5", "--out", "verified")
    found = json.loads((charted.checkout / "verified" / "verify.json").read_text())["checks"]
    statuses = {(one["subject"], one["check"]): one["status"] for one in found}
    model = "model (language-serving)"
    assert statuses[model, "the API server admits an InferenceService and a Job that asks it"] == "passed"
    assert statuses[model, "the model answers inside the cluster"] == "needs AWS"
    assert statuses["pool h100", "the API server admits nccl-tests on two nodes"] == "passed"
    assert statuses.get(("pool h100", "the bus bandwidth is that of the type")) in (None, "needs AWS")
    assert [one["status"] for one in found if one["check"] == preemption.WHAT] == ["passed"]
    assert statuses["clean-up", "nothing of this run is left"] == "passed"


def test_every_pod_of_prod_runs(shared: Path, prod: str) -> None:
    """With all charts available, on the nodes and with the claims and Secrets that the stack makes."""
    wanted, running = re.findall(r"^Pods: (\d+) wanted, (\d+) running\.$", prod, re.MULTILINE)[0]
    assert int(wanted) == int(running) > 100


def test_prod_without_protection_is_destroyed(prod: str, charted: World) -> None:
    """Last, with all controllers and pods alive."""
    charted.edit("stacks/Pulumi.prod.yaml", "protect: true", "protect: false")
    charted.edit("stacks/Pulumi.prod.yaml", "deletionProtection: true", "deletionProtection: false")
    charted.succeed("up", "prod", "--sandbox")
    _destroyed(charted, "prod")


def _destroyed(world: World, stack: str) -> None:
    done = world.succeed("destroy", stack, "--sandbox", "--yes")
    assert counts(done).keys() == {"deleted"}
    left = _left(world, stack)
    assert unneeded(left) == {}
    (snapshot,) = left["final snapshots"]
    assert snapshot.startswith(f"slipway-{stack}-mlflow-final-")
    assert f"slipway-{stack}:" not in world.succeed("sandbox", "status")


def _left(world: World, stack: str) -> dict[str, list[str]]:
    """What is in the account, asked from where the sandbox can be reached."""
    code = "import json, sys; from tests.e2e.cloud import contents; print(json.dumps(contents(json.load(sys.stdin))))"
    done = subprocess.run(
        [*world.prefix, sys.executable, "-c", code],
        cwd=REPOSITORY,
        input=json.dumps(world.variables(stack)),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found

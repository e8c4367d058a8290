"""`slipway verify` on a cluster of the sandbox: admission, placement and clean-up by the real API server."""

from __future__ import annotations

import json

import pytest

from slipway.sandbox.kubernetes.objects import Ref
from slipway.verify.probes import LABEL, NAMESPACE
from tests.e2e.world import World

pytestmark = pytest.mark.sandbox


def test_dev_is_verified_and_nothing_is_left(world: World, dev: str) -> None:
    assert dev
    output = world.succeed("verify", "dev", "--sandbox", "--minutes", "3", "--out", "verified")
    found = json.loads((world.checkout / "verified" / "verify.json").read_text())["checks"]
    assert {one["status"] for one in found} == {"passed", "needs AWS"}
    placed = {one["subject"] for one in found if "is placed on" in one["check"] and one["status"] == "passed"}
    assert placed == {"pool a100", "pool cpu", "pool gpu-spot", "pool h100", "pool system"}
    assert {one["status"] for one in found if "nvidia-smi" in one["check"]} == {"needs AWS"}
    assert "| clean-up | nothing of this run is left | passed |" in output
    client = world.api("dev")
    assert client.get(Ref("v1", "Namespace", NAMESPACE)) is None
    jobs = client.discovery.find("batch/v1", "Job")
    assert list(client.list(jobs, selector=f"{LABEL}=true")) == []

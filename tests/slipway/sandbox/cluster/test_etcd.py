from __future__ import annotations

import sys
from pathlib import Path

import pytest

from slipway.errors import SandboxError
from slipway.sandbox.cluster.etcd import start_etcd
from slipway.sandbox.cluster.supervisor import Supervisor
from tests.slipway.sandbox.plane import ControlPlane


@pytest.mark.sandbox
def test_wiping_one_prefix_keeps_a_longer_one(plane: ControlPlane) -> None:
    http = plane.etcd._http
    for key in ("L3dpcGUvYQ==", "L3dpcGUtbm90L2E="):  # /wipe/a, /wipe-not/a
        http.request("POST", f"{plane.etcd.url}/v3/kv/put", json={"key": key, "value": "eA=="})
    assert plane.etcd.wipe("wipe") == 1
    assert plane.etcd.wipe("wipe-not") == 1


def test_a_program_that_is_not_etcd_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="is not etcd"):
        start_etcd(Path(sys.executable), tmp_path / "data", tmp_path / "log", Supervisor())

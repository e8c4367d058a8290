"""`slipway sandbox capacity|reclaim|expire` and `status --limits`."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.objects import Ref
from sandbox.nodes.instances import INTERRUPTION
from slipway.cli import elastic, main, offline
from slipway.cli.offline import Sandbox

# `slipway sandbox capacity|reclaim|expire`.


class Client:
    """A cluster with a Spot node of Karpenter, one on demand, and one of a node group."""

    def __init__(self) -> None:
        self.merged: dict[str, Any] = {}
        self.deleted: list[str] = []

    def get(self, ref: Ref) -> dict[str, Any] | None:
        kinds = {"spot-1": "spot", "gpu-1": "on-demand", "system-0": ""}
        if ref.name not in kinds or (ref.kind == "NodeClaim" and ref.name == "system-0"):
            return None
        labels = {"karpenter.sh/capacity-type": kinds[ref.name]} if kinds[ref.name] else {}
        return {"metadata": {"name": ref.name, "labels": labels}, "spec": {"terminationGracePeriod": "48h"}}

    def merge(self, ref: Ref, patch: dict[str, Any]) -> None:
        self.merged[ref.name] = patch["metadata"]["annotations"]

    def delete(self, ref: Ref) -> None:
        self.deleted.append(f"{ref.kind}/{ref.name}")


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    (tmp_path / "kubeconfig").write_text(json.dumps({"clusters": [{"name": "slipway-dev"}]}))
    sandbox = Sandbox(home=tmp_path, variables={}, kubeconfig=tmp_path / "kubeconfig")
    monkeypatch.setattr(offline, "find_running", lambda: sandbox)
    client = Client()
    monkeypatch.setattr(elastic, "client_of", lambda *_: client)
    return client


@pytest.mark.usefixtures("client")
def test_capacity_is_refused_and_restored(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "capacity", "--refuse", "p5.48xlarge", "--zone", "us-east-1a", "--market", "spot"]) == 0
    assert "p5.48xlarge in us-east-1a, spot" in capsys.readouterr().out
    assert main(["sandbox", "capacity", "--launch-seconds", "30", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    one = {"instanceType": "p5.48xlarge", "zone": "us-east-1a", "capacityType": "spot"}
    assert shown == {"refused": [one], "launchSeconds": 30.0}
    assert main(["sandbox", "capacity", "--restore", "all"]) == 0
    assert "EC2 has capacity for every type" in capsys.readouterr().out


@pytest.mark.usefixtures("client")
def test_an_unknown_type_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "capacity", "--refuse", "p5.48xlargee"]) == 1
    assert "did you mean p5.48xlarge?" in capsys.readouterr().err


def test_a_spot_node_gets_the_time_of_its_interruption(client: Client) -> None:
    assert main(["sandbox", "reclaim", "spot-1"]) == 0
    assert list(client.merged) == ["spot-1"]
    assert client.merged["spot-1"][INTERRUPTION].endswith("Z")


@pytest.mark.parametrize("node", ["gpu-1", "system-0", "none"])
def test_no_other_node_is_interrupted(client: Client, node: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "reclaim", node]) == 1
    assert node in capsys.readouterr().err
    assert client.merged == {}


def test_a_node_expires_as_karpenter_lets_it(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "expire", "gpu-1"]) == 0
    assert client.deleted == ["NodeClaim/gpu-1"]
    assert "drains, for at most 48h" in capsys.readouterr().out
    assert main(["sandbox", "expire", "system-0"]) == 1
    assert client.deleted == ["NodeClaim/gpu-1"]


def test_limits_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "status", "--limits", "iam/role:", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {one["type"] for one in shown} == {"aws:iam/role:Role"}
    assert "create_role.RoleName" in {one["parameter"] for one in shown}

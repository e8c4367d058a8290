from __future__ import annotations

import stat
from pathlib import Path

import yaml

from slipway.sandbox.cluster.kubeconfig import kubeconfig, write_kubeconfig
from slipway.sandbox.ports import ClusterEndpoint

DEV, PROD = ClusterEndpoint("https://127.0.0.1:1", "REVW"), ClusterEndpoint("https://127.0.0.1:2", "UFJPRA==")


def test_the_newest_cluster_is_the_current_context() -> None:
    document = kubeconfig({"dev": DEV, "prod": PROD}, "token")
    assert document["current-context"] == "prod"
    assert [each["cluster"]["server"] for each in document["clusters"]] == [DEV.server, PROD.server]


def test_every_context_uses_the_admin_and_its_own_cluster() -> None:
    document = kubeconfig({"dev": DEV, "prod": PROD}, "token")
    assert {each["name"]: each["context"]["cluster"] for each in document["contexts"]} == {"dev": "dev", "prod": "prod"}
    assert {each["context"]["user"] for each in document["contexts"]} == {document["users"][0]["name"]}
    assert document["users"][0]["user"] == {"token": "token"}


def test_without_clusters_there_is_no_current_context() -> None:
    assert kubeconfig({}, "token")["current-context"] == ""


def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, {"dev": DEV}, "token")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert yaml.safe_load(path.read_text()) == kubeconfig({"dev": DEV}, "token")

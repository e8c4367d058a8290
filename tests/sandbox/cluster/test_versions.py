"""Versions that an API server emulates, and its binary."""

from unittest.mock import Mock

import pytest

from sandbox import toolchain
from sandbox.cluster import apiserver
from sandbox.cluster.apiserver import emulation
from sandbox.errors import SandboxError
from sandbox.kubernetes.crds import is_served
from sandbox.kubernetes.objects import Ref
from sandbox.kubernetes.waiting import until
from spec.catalog import kubernetes
from tests.sandbox.plane import ControlPlane, existing
from tests.support.patience import SECONDS

POLICY = Ref("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "it")


@pytest.mark.parametrize(
    ("wanted", "served", "text"),
    [
        ("1.36", "1.36", "Kubernetes 1.36 is served by kube-apiserver 1.36.3"),
        ("1.34", "1.34", "Kubernetes 1.34 is emulated by kube-apiserver 1.36.3"),
        ("1.33", "1.33", "Kubernetes 1.33 is emulated by"),
        ("1.32", "1.33", "Kubernetes 1.33 is served instead of 1.32, which is older than anything that"),
        ("1.37", "1.36", "Kubernetes 1.36 is served instead of 1.37, which is newer than anything that"),
    ],
)
def test_a_version_is_served_as_far_as_the_binary_can(wanted: str, served: str, text: str) -> None:
    found = emulation(wanted, "1.36.3")
    assert found.served == served
    assert found.text.startswith(text)


def test_a_cluster_without_a_version_has_the_default() -> None:
    assert emulation("", "1.36.3").served == kubernetes.DEFAULT


@pytest.mark.sandbox
def test_an_upgrade_keeps_the_objects_and_serves_the_apis_of_the_new_version(plane: ControlPlane) -> None:
    try:
        before = plane.pool.create("upgraded", "1.35")
        client = plane.targets.of_cluster("upgraded")
        assert client is not None
        assert client.get_path("/version")["emulationMinor"] == "35"
        assert not is_served(client, POLICY)
        client.apply({**Ref("v1", "ConfigMap", "kept", "default").as_object(), "data": {"a": "1"}}, "test")

        assert plane.pool.create("upgraded", "1.36") == before
        client = plane.targets.of_cluster("upgraded")
        assert client is not None
        assert client.get_path("/version")["emulationMinor"] == "36"
        assert is_served(client, POLICY)
        assert existing(client, Ref("v1", "ConfigMap", "kept", "default"))["data"] == {"a": "1"}
        # Its controllers run again.
        client.apply(Ref("v1", "Namespace", "later").as_object(), "test")
        account = Ref("v1", "ServiceAccount", "default", "later")
        until(lambda: client.get(account), SECONDS, "no service account")
    finally:
        plane.pool.delete("upgraded")


@pytest.mark.sandbox
@pytest.mark.parametrize("version", ["1.33", "1.34"])
def test_the_binary_emulates_the_oldest_versions(plane: ControlPlane, version: str) -> None:
    plane.pool.expect(version, version)
    server = plane.pool.spare(version)
    assert plane.targets.client(server).get_path("/version")["emulationMinor"] == version.split(".")[1]


def test_a_missing_tool_is_reported_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find", lambda name: None)
    with pytest.raises(SandboxError, match=r"needs kube-apiserver, which is not on this machine.*make tools"):
        apiserver.require("kube-apiserver")


def test_an_error_of_the_toolchain_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = toolchain.ToolError("SLIPWAY_ETCD names no program")
    monkeypatch.setattr(toolchain, "find", Mock(side_effect=refused))
    with pytest.raises(SandboxError, match="SLIPWAY_ETCD names no program"):
        apiserver.require("etcd")

import os
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from sandbox import toolchain
from sandbox.environment import environment
from sandbox.identity import ProcessIdentity
from sandbox.state import SandboxState


@pytest.fixture
def state(tmp_path: Path) -> SandboxState:
    return SandboxState(tmp_path, ProcessIdentity("daemon", 1, "boot", 1), "http://127.0.0.1:1", 2, 3)


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"pulumi": Path("/tools/pulumi/bin/pulumi"), "helm": Path("/tools/helm/bin/helm")}
    monkeypatch.setattr(toolchain, "find", found.get)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("AWS_REGION", "PULUMI_K8S_CLIENT_TIMEOUT"):
        monkeypatch.delenv(name, raising=False)


def test_both_providers_are_attached(state: SandboxState) -> None:
    assert environment(state)["PULUMI_DEBUG_PROVIDERS"] == "aws:2,kubernetes:3"


def test_the_official_kubernetes_provider_is_not_attached_but_a_plugin(state: SandboxState) -> None:
    assert environment(replace(state, official="/plugins/it"))["PULUMI_DEBUG_PROVIDERS"] == "aws:2"


def test_requests_of_the_official_provider_may_take_as_long_as_a_busy_api_server(
    state: SandboxState, monkeypatch: pytest.MonkeyPatch
) -> None:
    official = replace(state, official="/plugins/it")
    assert "PULUMI_K8S_CLIENT_TIMEOUT" not in environment(state)
    assert environment(official)["PULUMI_K8S_CLIENT_TIMEOUT"] == "300"
    monkeypatch.setenv("PULUMI_K8S_CLIENT_TIMEOUT", "20")
    assert environment(official)["PULUMI_K8S_CLIENT_TIMEOUT"] == "20"


def test_all_state_is_kept_in_the_sandbox(state: SandboxState) -> None:
    found = environment(state)
    assert found["PULUMI_BACKEND_URL"] == f"file://{state.home}/pulumi?metadata=skip"
    assert found["PULUMI_HOME"] == f"{state.home}/pulumi-home"
    assert found["KUBECONFIG"] == f"{state.home}/kubeconfig"


def test_aws_tools_use_the_sandbox_and_no_credentials_of_the_user(state: SandboxState) -> None:
    found = environment(state)
    assert found["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"
    assert found["AWS_EC2_METADATA_DISABLED"] == "true"
    assert {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} <= found.keys()


def test_path_has_the_shims_first_then_the_tools_then_the_users_entries(state: SandboxState) -> None:
    entries = environment(state)["PATH"].split(os.pathsep)
    assert entries == [f"{state.home}/bin", "/tools/pulumi/bin", "/tools/helm/bin", "/usr/bin", "/bin"]


def test_a_missing_tool_is_left_out_of_path(state: SandboxState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find", Mock(side_effect=toolchain.ToolError("none")))
    assert environment(state)["PATH"] == f"{state.home}/bin:/usr/bin:/bin"


def test_the_users_region_is_kept(state: SandboxState, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "AWS_REGION" not in environment(state)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert environment(state)["AWS_REGION"] == "eu-west-1"

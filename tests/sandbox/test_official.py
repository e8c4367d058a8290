"""Finding the official Kubernetes provider, and what the sandbox puts beside it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.official import AWS, EXECUTABLE, OFFICIAL, VARIABLE, find, install, plugin_folder, version
from tests.sandbox.test_shims import executable


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without plugins and without the AWS CLI."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PULUMI_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def test_the_plugin_of_the_sdks_version_is_preferred_to_path(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = executable(user / "bin" / EXECUTABLE)
    assert find(OFFICIAL) == on_path
    executable(user / ".pulumi" / "plugins" / "resource-kubernetes-v1.0.0" / EXECUTABLE)
    assert find(OFFICIAL) == on_path
    plugin = executable(user / ".pulumi" / "plugins" / f"resource-kubernetes-v{version()}" / EXECUTABLE)
    assert find(OFFICIAL) == plugin
    other = executable(plugin_folder(user / "other") / EXECUTABLE)
    monkeypatch.setenv("PULUMI_HOME", str(user / "other"))
    assert find(OFFICIAL) == other


def test_a_path_names_the_executable_or_its_folder(user: Path) -> None:
    there = executable(user / "somewhere" / EXECUTABLE)
    assert find(str(there)) == find(str(there.parent)) == there
    with pytest.raises(SandboxError, match=r"missing is not an executable: name the folder of pulumi-resource"):
        find(str(user / "missing"))


def test_a_missing_provider_is_reported_with_the_command_that_installs_it() -> None:
    with pytest.raises(SandboxError, match=rf"pulumi plugin install resource kubernetes v{version()}"):
        find(OFFICIAL)


def test_the_engine_finds_the_provider_among_its_plugins(user: Path) -> None:
    provider = executable(user / "somewhere" / EXECUTABLE)
    for _ in range(2):
        install(provider, user / "engine", user / "shims", "secret")
    assert (plugin_folder(user / "engine") / EXECUTABLE).samefile(provider)


def run_aws(user: Path, *arguments: str, asked: str = "") -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.defpath, "KUBERNETES_EXEC_INFO": asked}
    return subprocess.run(
        [user / "shims" / AWS, *arguments], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("api", ["v1", "v1beta1"])
def test_the_stand_in_for_aws_gives_the_credential_in_the_version_that_is_asked_for(user: Path, api: str) -> None:
    install(executable(user / "p"), user / "engine", user / "shims", "secret")
    asked = json.dumps({"apiVersion": f"client.authentication.k8s.io/{api}", "kind": "ExecCredential"})
    asked = asked.replace(": ", ":")
    done = run_aws(user, "eks", "get-token", "--cluster-name", "slipway-dev", asked=asked)
    credential = json.loads(done.stdout)
    assert credential["apiVersion"] == f"client.authentication.k8s.io/{api}"
    assert (credential["kind"], credential["status"]) == ("ExecCredential", {"token": "secret"})
    assert (user / "shims" / AWS).stat().st_mode & 0o077 == 0, "others can read the token"


def test_the_stand_in_passes_other_commands_to_the_aws_cli_if_there_is_one(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = executable(user / "p")
    install(provider, user / "engine", user / "shims", "secret")
    done = run_aws(user, "s3", "ls")
    assert done.returncode == 127
    assert "the AWS CLI is not installed" in done.stderr
    real = user / "bin" / AWS
    executable(real).write_text('#!/bin/sh\necho "real: $*"\n')
    monkeypatch.setenv("PATH", os.pathsep.join([str(user / "shims"), str(user / "bin")]))
    install(provider, user / "engine", user / "shims", "secret")
    assert run_aws(user, "s3", "ls").stdout == "real: s3 ls\n"


def test_the_variable_and_the_word_are_those_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guides" / "sandbox.md").read_text(encoding="utf-8")
    assert f"{VARIABLE}={OFFICIAL}" in page

"""Fixtures: a checkout, a Pulumi CLI that records its calls, and a fake sandbox."""

import os
import shutil
from pathlib import Path

import pytest

from sandbox import IN_SANDBOX_SHELL
from slipway.cli import offline, shell
from slipway.engine.project import find
from tests.slipway.engine.fake import FakePulumi


@pytest.fixture(autouse=True)
def _no_sandbox_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may be run from a shell of `slipway sandbox env`."""
    monkeypatch.delenv(IN_SANDBOX_SHELL, raising=False)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of this project's Pulumi.yaml and stack files; the working directory."""
    project = find(Path(__file__))
    root = tmp_path / "checkout"
    root.mkdir()
    shutil.copy(project.root / "Pulumi.yaml", root)
    shutil.copytree(project.stacks, root / "stacks")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch, fake: FakePulumi) -> None:
    """A user with the Pulumi CLI on PATH, credentials of a real account, and no terminal."""
    monkeypatch.setenv("PATH", f"{fake.directory}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://real-state")


def _session(endpoint: str, account: str, region: str) -> dict[str, str]:
    return {"AWS_ACCESS_KEY_ID": f"session of {account} at {endpoint}", "AWS_REGION": region}


@pytest.fixture
def sandbox(tmp_path: Path, fake: FakePulumi, monkeypatch: pytest.MonkeyPatch) -> offline.Sandbox:
    """A fake sandbox that the command takes for a running one."""
    home = tmp_path / "home"
    variables = {
        "PATH": f"{fake.directory}{os.pathsep}{os.environ['PATH']}",
        "PULUMI_BACKEND_URL": f"file://{home / 'pulumi'}?metadata=skip",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:5000",
    }
    running = offline.Sandbox(home, variables, home / "kubeconfig")
    monkeypatch.setattr(offline, "find_running", lambda: running)
    monkeypatch.setattr(shell, "credentials", _session)
    return running

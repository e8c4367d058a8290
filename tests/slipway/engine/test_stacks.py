"""The stacks of the sandbox's backend, against a CLI that records its calls."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slipway.engine.stackfiles import Overlay
from slipway.engine.stacks import SandboxEngine
from spec.errors import SlipwayError
from tests.slipway.engine.fake import FakePulumi, exported, resource
from tests.slipway.engine.test_locks import dead_pid, write_lock


@pytest.fixture
def fake(tmp_path: Path) -> FakePulumi:
    return FakePulumi.make(tmp_path / "bin")


@pytest.fixture
def engine(tmp_path: Path, fake: FakePulumi) -> SandboxEngine:
    backend = tmp_path / "backend"
    environment = {"PATH": os.environ["PATH"], "PULUMI_BACKEND_URL": f"file://{backend}"}
    return SandboxEngine(fake.path, environment, backend, Overlay(tmp_path / "project"))


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    folder = tmp_path / "stacks"
    folder.mkdir()
    (folder / "Pulumi.dev.yaml").write_text("config:\n  slipway:platform: {}\n")
    return folder


def test_a_stack_is_created_once_and_the_committed_file_is_unchanged(
    engine: SandboxEngine, fake: FakePulumi, committed: Path
) -> None:
    before = (committed / "Pulumi.dev.yaml").read_text()
    first = engine.prepare(committed, "dev")
    second = engine.prepare(committed, "dev")
    assert first == second
    assert "encryptionsalt" in first.read_text()
    assert (committed / "Pulumi.dev.yaml").read_text() == before
    assert [call["arguments"][:2] for call in fake.calls] == [["stack", "select"]]
    assert fake.calls[0]["directory"] == str(engine.overlay.root)


def test_the_state_of_a_missing_stack_is_empty_without_a_call_of_the_cli(
    engine: SandboxEngine, fake: FakePulumi
) -> None:
    assert engine.state("dev").resources == ()
    assert fake.calls == []


def test_the_state_is_what_the_engine_exports(engine: SandboxEngine, fake: FakePulumi, committed: Path) -> None:
    engine.prepare(committed, "dev")
    fake.tell("export", exported(resource("aws:ec2/vpc:Vpc", "network-vpc")))
    assert [one.name for one in engine.state("dev").resources] == ["network-vpc"]


def test_a_lock_of_a_dead_run_is_removed_and_reported(engine: SandboxEngine, fake: FakePulumi, committed: Path) -> None:
    engine.prepare(committed, "dev")
    write_lock(engine.backend, pid := dead_pid(), datetime.now(UTC))
    messages: list[str] = []
    engine.free("dev", messages.append)
    assert fake.calls[-1]["arguments"][:1] == ["cancel"]
    assert len(messages) == 1
    assert f"process {pid}" in messages[0]
    engine.free("dev", messages.append)
    assert len(messages) == 1


def test_a_stack_locked_by_a_live_run_is_refused(engine: SandboxEngine, fake: FakePulumi) -> None:
    write_lock(engine.backend, os.getpid(), datetime.now(UTC))
    with pytest.raises(SlipwayError, match=rf"in use by another run .process {os.getpid()} "):
        engine.free("dev", print)
    assert fake.calls == []


def test_one_live_lock_among_dead_ones_keeps_them_all(engine: SandboxEngine, fake: FakePulumi) -> None:
    write_lock(engine.backend, dead_pid(), datetime.now(UTC), name="a")
    write_lock(engine.backend, os.getpid(), datetime.now(UTC), name="b")
    with pytest.raises(SlipwayError):
        engine.free("dev", print)
    assert fake.calls == []

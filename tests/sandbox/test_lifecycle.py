"""Starting, killing and stopping a separate daemon, as users and machines do."""

import os
import shutil
import signal
import threading
import time
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import boto3
import psutil
import pytest

from sandbox import CHARTS, asked, lifecycle
from sandbox.cluster import apiserver
from sandbox.errors import SandboxError
from sandbox.identity import ProcessIdentity, end
from sandbox.state import STATE_FILE, SandboxState, load_children, moved_aside, save, save_children
from tests.support.patience import SECONDS, wait_for

Usage = namedtuple("Usage", "total used free")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One home for the tests that start a daemon: a start takes seconds, so each continues where the last one ended."""
    home = tmp_path_factory.mktemp("sandbox")
    yield home
    lifecycle.stop(home=home)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[tuple[Path, list[ProcessIdentity]]]:
    """A sandbox of one test: its home, and its processes, the daemon first."""
    home = tmp_path / "home"
    state = lifecycle.start(home=home)
    processes = [state.daemon, *load_children(home)]
    yield home, processes
    end(processes)


def ended(identities: list[ProcessIdentity], seconds: float = SECONDS) -> bool:
    """Whether all processes end within the time."""
    deadline = time.monotonic() + seconds
    while any(each.find() for each in identities) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(each.find() for each in identities)


@pytest.mark.sandbox
def test_two_concurrent_starts_give_one_sandbox(home: Path) -> None:
    found: list[SandboxState] = []
    said: list[str] = []
    starts = [threading.Thread(target=lambda: found.append(lifecycle.start(said.append, home=home))) for _ in range(2)]
    for each in starts:
        each.start()
    for each in starts:
        each.join()
    assert len(found) == 2
    assert found[0] == found[1]
    assert said.count("another command is starting or stopping the sandbox: waiting for it") == 1


@pytest.mark.sandbox
def test_a_running_sandbox_is_reused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lifecycle.start(home=home)
    assert lifecycle.start(home=home) == first
    said: list[str] = []
    monkeypatch.setenv(CHARTS, str(home))
    assert lifecycle.start(said.append, home=home) == first
    assert [line.partition(" from now on")[0] for line in said] == [f"charts: those of {home}"]
    assert asked.charts(home) == home


@pytest.mark.sandbox
def test_aws_answers_at_the_endpoint_of_the_state(home: Path) -> None:
    state = lifecycle.start(home=home)
    sts = boto3.client(
        "sts",
        region_name="us-east-1",
        endpoint_url=state.aws_endpoint,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    assert sts.get_caller_identity()["Account"] == "123456789012"


@pytest.mark.sandbox
def test_status_shows_running_processes_and_their_memory(home: Path) -> None:
    lifecycle.start(home=home)
    found = lifecycle.status(home)
    assert found.running
    assert not found.stale
    assert [child.name for child in found.children] == ["etcd"]
    assert found.dead_children == ()
    assert all(found.memory[name] > 2**20 for name in ("daemon", "etcd"))


@pytest.mark.sandbox
def test_a_killed_daemon_leaves_no_children_and_the_next_start_recovers(home: Path) -> None:
    first = lifecycle.start(home=home)
    children = list(load_children(home))
    (home / "pulumi" / "left-over").touch()
    data = sorted(path.name for path in (home / "etcd").iterdir())
    assert data
    assert children
    os.kill(first.daemon.pid, signal.SIGKILL)
    assert ended([first.daemon, *children])
    assert lifecycle.status(home).stale
    said: list[str] = []
    second = lifecycle.start(said.append, home=home)
    assert second.daemon != first.daemon
    assert not (home / "pulumi" / "left-over").exists()
    assert lifecycle.status(home).running
    (kept,) = moved_aside(home)
    assert (kept / "pulumi" / "left-over").exists()
    assert sorted(path.name for path in (kept / "etcd").iterdir()) == data
    assert f"the last sandbox ended by itself (its daemon, pid {first.daemon.pid}, was killed" in said[0]
    assert f"are kept in {kept}, until you delete that folder or run `slipway sandbox stop`" in said[0]


@pytest.mark.sandbox
def test_a_step_of_the_clock_leaves_a_sandbox_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lifecycle.start(home=home)
    real = psutil.boot_time()
    # What the kernel says of its boot moves with the wall clock (proc(5), /proc/stat, btime).
    monkeypatch.setattr(psutil._pslinux, "boot_time", lambda: real + 5)
    assert lifecycle.status(home).running
    assert lifecycle.start(home=home) == first


@pytest.mark.sandbox
def test_a_stopped_sandbox_is_not_responding_and_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lifecycle.start(home=home)
    assert wait_for(lambda: not lifecycle.status(home).silent)
    os.kill(first.daemon.pid, signal.SIGSTOP)
    try:
        assert wait_for(lambda: lifecycle.status(home).silent)
        found = lifecycle.status(home)
        assert (found.running, found.stale) == (True, False)
        assert found.silent[0].startswith(f"daemon (pid {first.daemon.pid}) is stopped (SIGSTOP): `kill -CONT")
        # A process that is frozen in another way is only seen by its silence.
        monkeypatch.setattr(ProcessIdentity, "stopped", False)
        monkeypatch.setattr(lifecycle, "ANSWER_SECONDS", 0.3)
        assert f"daemon (pid {first.daemon.pid}) has not answered for 0.3 s" in lifecycle.status(home).silent[0]
        assert lifecycle.start(home=home) == first
    finally:
        os.kill(first.daemon.pid, signal.SIGCONT)
    monkeypatch.undo()
    assert wait_for(lambda: not lifecycle.status(home).silent)


@pytest.mark.sandbox
def test_a_deleted_home_ends_its_sandbox(own: tuple[Path, list[ProcessIdentity]]) -> None:
    home, processes = own
    shutil.rmtree(home)
    assert ended(processes)
    assert not home.exists()


@pytest.mark.sandbox
@pytest.mark.parametrize("whole", [True, False])
def test_stop_finds_a_sandbox_without_its_files(own: tuple[Path, list[ProcessIdentity]], whole: bool) -> None:
    home, processes = own
    pid = processes[0].pid
    # Suspended, so that it does not end by itself before.
    os.kill(pid, signal.SIGSTOP)
    if whole:
        shutil.rmtree(home)
    else:
        (home / STATE_FILE).unlink()
    said: list[str] = []
    assert lifecycle.stop(said.append, home)
    assert f"the files of the sandbox (pid {pid}) were deleted: ending it" in said
    assert ended(processes, 0)
    assert lifecycle.stop(home=home) is False


@pytest.mark.sandbox
def test_stop_ends_everything_and_keeps_the_logs(home: Path) -> None:
    state = lifecycle.start(home=home)
    processes = [state.daemon, *load_children(home)]
    assert lifecycle.stop(home=home)
    assert ended(processes, 0)
    # Also those that were moved aside: this is the command that deletes.
    assert sorted(path.name for path in home.iterdir()) == ["lock", "logs"]
    assert lifecycle.stop(home=home) is False
    assert "stopped" in (home / "logs" / "daemon.log").read_text()


def test_orphans_of_a_killed_daemon_are_ended_by_identity(tmp_path: Path) -> None:
    dead = replace(ProcessIdentity.of("daemon", os.getpid()), started=1)
    save(SandboxState(tmp_path, dead, "http://127.0.0.1:1", 2, 3))
    pid = os.posix_spawnp("sleep", ["sleep", "600"], os.environ)
    orphan, reused = ProcessIdentity.of("etcd", pid), replace(dead, name="api")
    try:
        save_children(tmp_path, (orphan, reused))
        messages: list[str] = []
        assert lifecycle.status(tmp_path).stale
        assert lifecycle.stop(messages.append, tmp_path)
        assert orphan.find() is None
        assert f"ended the processes it left running: etcd ({pid})" in messages
    finally:
        end([orphan])


def test_a_missing_tool_is_reported_before_anything_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apiserver, "require", Mock(side_effect=SandboxError("etcd is not on this machine")))
    with pytest.raises(SandboxError, match="etcd is not on this machine"):
        lifecycle.start(home=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_a_missing_folder_of_charts_is_reported_before_anything_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apiserver, "require", Path)
    monkeypatch.setenv(CHARTS, str(tmp_path / "none"))
    (tmp_path / "kubeconfig").touch()
    with pytest.raises(SandboxError, match=f"{CHARTS}: it must be a folder of charts"):
        lifecycle.start(home=tmp_path)
    assert (tmp_path / "kubeconfig").exists()


def test_a_full_disk_is_reported_with_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(100 << 30, 100 << 30, 30 << 20))
    with pytest.raises(SandboxError, match=r"only 30 MiB are free at .*SLIPWAY_SANDBOX_HOME to .* disk$"):
        lifecycle.start(home=tmp_path)
    (tmp_path / "aside/0001-20261123T101500Z").mkdir(parents=True)
    with pytest.raises(SandboxError, match=r"1 sandboxes that ended by themselves are kept in .*aside$"):
        lifecycle.start(home=tmp_path)


def test_a_home_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SandboxError, match=r"the sandbox's directory .* can't be used"):
        lifecycle.start(home=tmp_path / "file" / "below")


def test_without_a_sandbox_there_is_nothing_to_stop(tmp_path: Path) -> None:
    assert lifecycle.stop(home=tmp_path / "none") is False
    assert not (tmp_path / "none").exists()
    assert lifecycle.status(tmp_path / "none").running is False

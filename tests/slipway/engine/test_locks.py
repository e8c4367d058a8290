"""Whether the owner of a lock is still running."""

import json
import os
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from slipway.engine.stacks import Lock, locks
from tests.slipway.engine.fake import FakePulumi


def write_lock(backend: Path, pid: int, taken: datetime, host: str | None = None, name: str = "a") -> None:
    directory = backend / ".pulumi/locks/organization/slipway/dev"
    directory.mkdir(parents=True, exist_ok=True)
    # Go writes nine decimal places of the second.
    stamp = taken.strftime("%Y-%m-%dT%H:%M:%S.%f") + "123Z"
    content = {"pid": pid, "username": "me", "hostname": host or socket.gethostname(), "timestamp": stamp}
    (directory / f"{name}.json").write_text(json.dumps(content))
    (directory / f"{name}.json.attrs").write_text("{}")


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def only(backend: Path) -> Lock:
    (lock,) = locks(backend, "slipway", "dev")
    return lock


def test_a_running_cli_is_a_live_owner(tmp_path: Path) -> None:
    with FakePulumi.make(tmp_path / "bin").running() as pid:
        write_lock(tmp_path, pid, datetime.now(UTC))
        assert only(tmp_path).owner_lives
        assert f"process {pid} on {socket.gethostname()}" in str(only(tmp_path))


@pytest.mark.parametrize("step", [timedelta(minutes=1), timedelta(days=-1), timedelta(days=400)])
def test_a_step_of_the_clock_does_not_end_an_owner(tmp_path: Path, step: timedelta) -> None:
    with FakePulumi.make(tmp_path / "bin").running() as pid:
        write_lock(tmp_path, pid, datetime.now(UTC) - step)
        assert only(tmp_path).owner_lives


def test_a_stopped_cli_is_a_live_owner(tmp_path: Path) -> None:
    with FakePulumi.make(tmp_path / "bin").running() as pid:
        write_lock(tmp_path, pid, datetime.now(UTC))
        assert not only(tmp_path).stopped
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)  # a signal is delivered when the process is scheduled next
        assert only(tmp_path).stopped
        assert only(tmp_path).owner_lives


def test_a_process_of_which_nothing_may_be_seen_counts_as_the_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_process: psutil.Process) -> list[str]:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "cmdline", denied)
    write_lock(tmp_path, os.getpid(), datetime.now(UTC))
    assert only(tmp_path).owner_lives


def test_an_ended_process_is_a_dead_owner(tmp_path: Path) -> None:
    write_lock(tmp_path, dead_pid(), datetime.now(UTC))
    assert not locks(tmp_path, "slipway", "dev")[0].owner_lives


def test_a_process_that_is_no_cli_is_not_the_owner(tmp_path: Path) -> None:
    write_lock(tmp_path, os.getpid(), datetime.now(UTC))
    assert not locks(tmp_path, "slipway", "dev")[0].owner_lives


def test_an_owner_on_another_host_counts_as_running(tmp_path: Path) -> None:
    write_lock(tmp_path, dead_pid(), datetime.now(UTC), host="elsewhere")
    assert locks(tmp_path, "slipway", "dev")[0].owner_lives


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"pid": "x", "hostname": "h", "timestamp": "now"}'])
def test_a_file_that_is_not_a_lock_is_ignored(tmp_path: Path, content: str) -> None:
    write_lock(tmp_path, 1, datetime.now(UTC))
    (tmp_path / ".pulumi/locks/organization/slipway/dev/a.json").write_text(content)
    assert locks(tmp_path, "slipway", "dev") == ()
    assert locks(tmp_path, "slipway", "other") == ()

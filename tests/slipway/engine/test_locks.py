"""Whether the owner of a lock is still running."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from slipway.engine.locks import locks


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


def test_a_running_process_is_a_live_owner(tmp_path: Path) -> None:
    write_lock(tmp_path, os.getpid(), datetime.now(UTC))
    (lock,) = locks(tmp_path, "slipway", "dev")
    assert lock.owner_lives
    assert f"process {os.getpid()} on {socket.gethostname()}" in str(lock)


def test_an_ended_process_is_a_dead_owner(tmp_path: Path) -> None:
    write_lock(tmp_path, dead_pid(), datetime.now(UTC))
    assert not locks(tmp_path, "slipway", "dev")[0].owner_lives


def test_a_reused_pid_is_a_dead_owner(tmp_path: Path) -> None:
    write_lock(tmp_path, os.getpid(), datetime.now(UTC) - timedelta(days=1))
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

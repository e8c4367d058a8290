"""The sandbox's state as it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slipway.cli.status import Condition, ProcessStatus, Status

DAEMON = ProcessStatus("daemon", 10, 100 * 2**20)
ETCD = ProcessStatus("etcd", 11, 50 * 2**20)
DEAD = ProcessStatus("kube-apiserver dev", 12, None)
HOME = Path("/home/me/sandbox")


def test_memory_is_that_of_all_processes_together() -> None:
    status = Status(Condition.RUNNING, HOME, [DAEMON, ETCD], {"moto": "http://127.0.0.1:5000"})
    assert status.memory == 150 * 2**20
    assert status.healthy
    text = status.text()
    assert "memory: 150 MiB together" in text
    assert "moto: http://127.0.0.1:5000" in text


def test_a_dead_process_is_named_with_what_to_do() -> None:
    status = Status(Condition.DAMAGED, HOME, [DAEMON, DEAD])
    assert not status.healthy
    assert status.dead == ["kube-apiserver dev"]
    assert "gone" in status.text()
    assert "kube-apiserver dev died (logs in /home/me/sandbox/logs): `slipway sandbox stop`" in status.text()


@pytest.mark.parametrize("condition", [Condition.STOPPED, Condition.STALE])
def test_what_does_not_run_is_not_healthy(condition: Condition) -> None:
    status = Status(condition, HOME)
    assert not status.healthy
    assert status.text().startswith(f"sandbox: {condition}")


def test_the_same_can_be_read_by_a_program() -> None:
    data = json.loads(json.dumps(Status(Condition.RUNNING, HOME, [DAEMON, DEAD]).as_data()))
    assert data["condition"] == "running"
    assert data["processes"][1] == {"name": "kube-apiserver dev", "pid": 12, "memory": None}

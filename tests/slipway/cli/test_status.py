"""The sandbox's status as text and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slipway.cli.status import Condition, ProcessStatus, Status
from slipway.sandbox.controllers.report import Entry, State

DAEMON = ProcessStatus("daemon", 10, 100 * 2**20)
ETCD = ProcessStatus("etcd", 11, 50 * 2**20)
DEAD = ProcessStatus("kube-apiserver dev", 12, None)
HOME = Path("/home/me/sandbox")


def test_memory_is_the_total_of_all_processes() -> None:
    status = Status(Condition.RUNNING, HOME, [DAEMON, ETCD], {"moto": "http://127.0.0.1:5000"})
    assert status.memory == 150 * 2**20
    assert status.healthy
    text = status.text()
    assert "memory: 150 MiB in total" in text
    assert "moto: http://127.0.0.1:5000" in text


def test_a_dead_process_is_reported_with_a_fix() -> None:
    status = Status(Condition.DAMAGED, HOME, [DAEMON, DEAD])
    assert not status.healthy
    assert status.dead == ["kube-apiserver dev"]
    assert "ended" in status.text()
    assert "kube-apiserver dev died (logs in /home/me/sandbox/logs): run `slipway sandbox stop`" in status.text()


@pytest.mark.parametrize("condition", [Condition.STOPPED, Condition.STALE])
def test_a_sandbox_that_is_not_running_is_not_healthy(condition: Condition) -> None:
    status = Status(condition, HOME)
    assert not status.healthy
    assert status.text().startswith(f"sandbox: {condition}")


def test_controllers_are_listed_with_their_state_and_log() -> None:
    entries = [
        Entry("api-1", "kueue", "0.19.2", State.RUNNING, log="/logs/kueue-api-1.log"),
        Entry("api-1", "jobset", "0.12.0", State.BUILDING, "progress in /logs/build-jobset.log"),
    ]
    status = Status(Condition.RUNNING, HOME, [DAEMON], controllers=entries)
    assert status.text().splitlines()[-3:] == [
        "controllers of add-ons:",
        "  kueue 0.19.2 runs (log /logs/kueue-api-1.log)",
        "  jobset 0.12.0 is being built: progress in /logs/build-jobset.log",
    ]
    assert json.loads(json.dumps(status.as_data()))["controllers"][0]["state"] == "runs"


def test_the_status_can_be_serialized_as_json() -> None:
    data = json.loads(json.dumps(Status(Condition.RUNNING, HOME, [DAEMON, DEAD]).as_data()))
    assert data["condition"] == "running"
    assert data["processes"][1] == {"name": "kube-apiserver dev", "pid": 12, "memory": None}

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from slipway.sandbox.cluster.process import ProcessError, ProcessSpec
from slipway.sandbox.cluster.supervisor import Supervisor


def sleeper(tmp_path: Path, name: str, *, ready: bool = True) -> ProcessSpec:
    argv = [sys.executable, "-c", "import time; time.sleep(60)"]
    return ProcessSpec(name, argv, tmp_path / f"{name}.log", lambda: ready, deadline_seconds=0.2)


def test_children_are_stopped_newest_first(tmp_path: Path) -> None:
    seen: list[tuple[str, ...]] = []
    supervisor = Supervisor(lambda: seen.append(tuple(child.name for child in supervisor.identities())))
    for name in ("etcd", "api"):
        supervisor.start(sleeper(tmp_path, name))
    supervisor.stop_all()
    assert seen == [("etcd",), ("etcd", "api"), ("etcd",), ()]


def test_a_child_that_does_not_become_ready_is_stopped(tmp_path: Path) -> None:
    supervisor = Supervisor()
    with pytest.raises(ProcessError):
        supervisor.start(sleeper(tmp_path, "never", ready=False))
    assert supervisor.identities() == ()


def test_nothing_starts_after_stop_all(tmp_path: Path) -> None:
    supervisor = Supervisor()
    supervisor.stop_all()
    with pytest.raises(ProcessError, match="the sandbox is stopping"):
        supervisor.start(sleeper(tmp_path, "late"))


def test_a_child_outlives_the_thread_that_requested_it(tmp_path: Path) -> None:
    supervisor = Supervisor()
    asking = threading.Thread(target=supervisor.start, args=(sleeper(tmp_path, "child"),))
    asking.start()
    asking.join()
    try:
        (child,) = supervisor.identities()
        found = child.find()
        assert found is not None
        with pytest.raises(Exception, match="timeout"):
            found.wait(0.3)
    finally:
        supervisor.stop_all()

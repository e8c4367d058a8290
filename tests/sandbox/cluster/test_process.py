"""Child processes: their start, free ports, readiness and end."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from sandbox.cluster import process as process_module
from sandbox.cluster.process import (
    ATTEMPTS,
    PortTakenError,
    Process,
    ProcessError,
    ProcessSpec,
    Supervisor,
    free_ports,
    tail,
    with_free_ports,
)
from sandbox.identity import ProcessIdentity
from sandbox.kubernetes.waiting import until
from tests.support.patience import SECONDS


def spec(tmp_path: Path, code: str, *, ready: bool = True, deadline: float = SECONDS) -> ProcessSpec:
    return ProcessSpec("thing", [sys.executable, "-c", code], tmp_path / "logs" / "thing.log", lambda: ready, deadline)


def test_a_program_that_ends_before_it_is_ready_is_reported_with_its_last_lines(tmp_path: Path) -> None:
    process = Process.spawn(spec(tmp_path, "print('no such flag'); raise SystemExit(3)", ready=False))
    with pytest.raises(ProcessError, match=r"thing ended with exit code 3 before it was ready.*\n +no such flag"):
        process.wait_until_ready()


def test_a_port_taken_meanwhile_is_a_separate_error(tmp_path: Path) -> None:
    code = "raise SystemExit('listen tcp 127.0.0.1:1: bind: address already in use')"
    process = Process.spawn(spec(tmp_path, code, ready=False))
    with pytest.raises(PortTakenError):
        process.wait_until_ready()


def test_a_program_that_is_not_ready_in_time_is_reported(tmp_path: Path) -> None:
    process = Process.spawn(spec(tmp_path, "import time; time.sleep(60)", ready=False, deadline=0.1))
    try:
        with pytest.raises(ProcessError, match=r"not ready after [\d.]+ s"):
            process.wait_until_ready()
    finally:
        process.stop()


def test_a_program_that_cannot_be_run_is_reported(tmp_path: Path) -> None:
    missing = ProcessSpec("thing", [str(tmp_path / "missing")], tmp_path / "log", lambda: False)
    with pytest.raises(ProcessError, match=r"missing can't be run: No such file"):
        Process.spawn(missing).wait_until_ready()


def test_stop_ends_a_program_that_ignores_the_signal(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    stubborn = ProcessSpec(
        "stubborn",
        [sys.executable, "-c", code],
        tmp_path / "log",
        lambda: (tmp_path / "log").read_text() != "",
        grace_seconds=0.2,
    )
    process = Process.spawn(stubborn)
    process.wait_until_ready()
    process.stop()
    assert process.exit_code == -signal.SIGKILL


def test_the_environment_of_a_program_includes_the_specs_variables(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = "import os, time; print(os.environ['EXTRA'], os.environ['HOME'], flush=True); time.sleep(60)"
    argv, extra = [sys.executable, "-c", code], {"EXTRA": "x"}
    process = Process.spawn(ProcessSpec("p", argv, log, lambda: log.read_text() != "", environment=extra))
    process.wait_until_ready()
    process.stop()
    assert log.read_text().split() == ["x", os.environ["HOME"]]


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux's own")
def test_a_child_is_killed_with_its_parent(tmp_path: Path) -> None:
    code = f"""
import sys, time
from pathlib import Path
from sandbox.cluster.process import Process, ProcessSpec
child = Process.spawn(ProcessSpec("c", [sys.executable, "-c", "import time; time.sleep(60)"],
                                  Path({str(tmp_path / "log")!r}), lambda: True))
print(child.identity.pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = ProcessIdentity.of("child", int(parent.stdout.readline()))
        # The launcher sets the signal; before that, it notices the parent's end itself.
        parent.kill()
    gone_by = time.monotonic() + SECONDS
    while child.find() is not None and time.monotonic() < gone_by:
        time.sleep(0.02)
    assert child.find() is None


def test_tail_gives_the_last_lines_and_nothing_for_a_missing_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("\n".join(str(n) for n in range(5000)))
    assert tail(log, 2) == ["4998", "4999"]
    assert tail(tmp_path / "none") == []


def sleeps(process: psutil.Process) -> bool:
    """Whether it is a running `sleep` of these tests; a zombie has no command line."""
    try:
        return "time.sleep(60)" in " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False


def test_no_child_of_these_tests_is_left() -> None:
    assert [child for child in psutil.Process().children() if sleeps(child)] == []


TAKEN = "address already in use"


def test_free_ports_are_distinct_and_usable() -> None:
    """A program of another test may take one before it is tried: nobody can take one in each of many tries."""

    def tried() -> bool | None:
        ports = free_ports(3)
        assert len(set(ports)) == 3
        try:
            for port in ports:
                with socket.socket() as server:
                    server.bind(("127.0.0.1", port))
        except OSError:
            return None
        return True

    assert until(tried, SECONDS, "never all three are free")


def test_a_start_is_retried_if_its_port_was_taken() -> None:
    tried: list[int] = []

    def start(ports: tuple[int, ...]) -> int:
        tried.append(ports[0])
        if len(tried) < 3:
            raise PortTakenError(TAKEN)
        return ports[0]

    assert with_free_ports(1, start) == tried[2]


def test_retries_of_a_start_are_limited() -> None:
    tried: list[int] = []

    def start(ports: tuple[int, ...]) -> None:
        tried.append(ports[0])
        raise PortTakenError(TAKEN)

    with pytest.raises(PortTakenError):
        with_free_ports(1, start)
    assert len(tried) == ATTEMPTS


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


def server(tmp_path: Path, name: str, code: str) -> ProcessSpec:
    """A program that adds a line to a file of its own and then waits; `code` runs before."""
    started = tmp_path / f"{name}.started"
    text = f"{code}\nimport time\nopen({str(started)!r}, 'a').write('x')\ntime.sleep(60)"
    return ProcessSpec(name, [sys.executable, "-c", text], tmp_path / f"{name}.log", started.exists)


def until_true(condition: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_child_that_dies_is_started_again_and_its_log_goes_on(tmp_path: Path) -> None:
    identities: list[tuple[int, ...]] = []
    supervisor = Supervisor(lambda: identities.append(tuple(child.pid for child in supervisor.identities())))
    early = supervisor.start(server(tmp_path, "early", "print('up', flush=True)"))
    try:
        supervisor.keep()
        late = supervisor.start(server(tmp_path, "late", "print('up', flush=True)"))
        first = [process.identity.pid for process in (early, late)]
        for pid in first:
            os.kill(pid, signal.SIGKILL)
        until_true(lambda: not {early.identity.pid, late.identity.pid} & set(first))
        assert early.returns()
        assert late.returns()
        until_true(lambda: [tail(process.spec.log) for process in (early, late)] == [["up", "up"], ["up", "up"]])
        assert identities[-1] == (early.identity.pid, late.identity.pid)
    finally:
        supervisor.stop_all()
    assert (early.exit_code, late.exit_code) != (None, None)


def test_what_is_stopped_is_not_started_again(tmp_path: Path) -> None:
    supervisor = Supervisor()
    supervisor.keep()
    stays, goes = (supervisor.start(server(tmp_path, name, "")) for name in ("stays", "goes"))
    try:
        supervisor.stop(goes)
        os.kill(stays.identity.pid, signal.SIGKILL)
        until_true(lambda: (tmp_path / "stays.started").read_text() == "xx")
        assert (tmp_path / "goes.started").read_text() == "x"
        assert not goes.returns()
    finally:
        supervisor.stop_all()


def test_what_may_end_by_itself_is_left_alone(tmp_path: Path) -> None:
    supervisor = Supervisor()
    supervisor.keep()
    once = supervisor.start(replace(server(tmp_path, "once", ""), transient=True))
    always = supervisor.start(server(tmp_path, "always", ""))
    try:
        for process in (once, always):
            os.kill(process.identity.pid, signal.SIGKILL)
        until_true(lambda: (tmp_path / "always.started").read_text() == "xx")
        assert (tmp_path / "once.started").read_text() == "x"
        assert not once.returns()
    finally:
        supervisor.stop_all()


def test_a_child_that_does_not_come_up_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "LONGEST_PAUSE", 0.1)
    allowed = tmp_path / "allowed"
    allowed.touch()
    supervisor = Supervisor()
    supervisor.keep()
    child = supervisor.start(
        server(tmp_path, "child", f"import os; os.path.exists({str(allowed)!r}) or exit('not now')")
    )
    try:
        allowed.unlink()
        (tmp_path / "child.started").unlink()
        os.kill(child.identity.pid, signal.SIGKILL)
        until_true(lambda: tail(child.spec.log).count("not now") > 1)
        assert not child.returns(0.1)
        allowed.touch()
        assert child.returns()
    finally:
        supervisor.stop_all()

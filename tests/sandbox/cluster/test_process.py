"""Child processes: their start, free ports, readiness and end."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from sandbox.cluster import patience
from sandbox.cluster import process as process_module
from sandbox.cluster.patience import COUNTED, MOST, Patience, Work
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
from sandbox.kubernetes import crds, waiting
from sandbox.kubernetes.client import KubeClient, NoSuchKindError, ResourceType, UnreachableError
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from tests.sandbox.plane import crd
from tests.support.patience import SECONDS, wait_for


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
    argv, log = [sys.executable, "-c", code], tmp_path / "log"
    process = Process.spawn(ProcessSpec("stubborn", argv, log, lambda: log.read_text() != "", grace_seconds=0.2))
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
    until(lambda: child.find() is None or None, SECONDS, "it lives on")


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
    start = Mock(side_effect=[PortTakenError(TAKEN), PortTakenError(TAKEN), "started"])
    assert with_free_ports(1, start) == "started"
    assert start.call_count == 3


def test_retries_of_a_start_are_limited() -> None:
    start = Mock(side_effect=PortTakenError(TAKEN))
    with pytest.raises(PortTakenError):
        with_free_ports(1, start)
    assert start.call_count == ATTEMPTS


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


def test_a_child_that_does_not_become_ready_is_stopped(tmp_path: Path, supervisor: Supervisor) -> None:
    with pytest.raises(ProcessError):
        supervisor.start(sleeper(tmp_path, "never", ready=False))
    assert supervisor.identities() == ()


def test_a_slow_child_stands_still_again_and_again_and_then_goes_on(tmp_path: Path, supervisor: Supervisor) -> None:
    child = supervisor.start(spec(tmp_path, "import time; time.sleep(600)"))
    supervisor.pause("thing", SECONDS, breathing=True)
    for _ in range(2):
        assert wait_for(lambda: child.identity.stopped)
        assert wait_for(lambda: not child.identity.stopped)
    with pytest.raises(ProcessError, match="nothing named other runs: thing"):
        supervisor.pause("other", 1)


def test_nothing_starts_after_stop_all(tmp_path: Path, supervisor: Supervisor) -> None:
    supervisor.stop_all()
    with pytest.raises(ProcessError, match="the sandbox is stopping"):
        supervisor.start(sleeper(tmp_path, "late"))


def test_a_child_outlives_the_thread_that_requested_it(tmp_path: Path, supervisor: Supervisor) -> None:
    asking = threading.Thread(target=supervisor.start, args=(sleeper(tmp_path, "child"),))
    asking.start()
    asking.join()
    (child,) = supervisor.identities()
    found = child.find()
    assert found is not None
    with pytest.raises(psutil.TimeoutExpired):
        found.wait(0.3)


def server(tmp_path: Path, name: str, code: str) -> ProcessSpec:
    """A program that adds a line to a file of its own and then waits; `code` runs before."""
    started = tmp_path / f"{name}.started"
    text = f"{code}\nimport time\nopen({str(started)!r}, 'a').write('x')\ntime.sleep(60)"
    return ProcessSpec(name, [sys.executable, "-c", text], tmp_path / f"{name}.log", started.exists)


def until_true(condition: Callable[[], object]) -> None:
    until(lambda: condition() or None, SECONDS, "never true")


def test_a_child_that_dies_is_started_again_and_its_log_goes_on(tmp_path: Path) -> None:
    reported: list[tuple[ProcessIdentity, ...]] = []
    supervisor = Supervisor(lambda: reported.append(supervisor.identities()))
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
        assert reported[-1] == (early.identity, late.identity)
    finally:
        supervisor.stop_all()
    assert None not in (early.exit_code, late.exit_code)


def test_what_is_stopped_is_not_started_again(tmp_path: Path, supervisor: Supervisor) -> None:
    supervisor.keep()
    stays, goes = (supervisor.start(server(tmp_path, name, "")) for name in ("stays", "goes"))
    supervisor.stop(goes)
    os.kill(stays.identity.pid, signal.SIGKILL)
    until_true(lambda: (tmp_path / "stays.started").read_text() == "xx")
    assert (tmp_path / "goes.started").read_text() == "x"
    assert not goes.returns()


def test_what_may_end_by_itself_is_left_alone(tmp_path: Path, supervisor: Supervisor) -> None:
    supervisor.keep()
    once = supervisor.start(replace(server(tmp_path, "once", ""), transient=True))
    always = supervisor.start(server(tmp_path, "always", ""))
    for process in (once, always):
        os.kill(process.identity.pid, signal.SIGKILL)
    until_true(lambda: (tmp_path / "always.started").read_text() == "xx")
    assert (tmp_path / "once.started").read_text() == "x"
    assert not once.returns()


def test_a_child_that_does_not_come_up_is_tried_again(
    tmp_path: Path, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "LONGEST_PAUSE", 0.1)
    allowed = tmp_path / "allowed"
    allowed.touch()
    supervisor.keep()
    code = f"import os; os.path.exists({str(allowed)!r}) or exit('not now')"
    child = supervisor.start(server(tmp_path, "child", code))
    allowed.unlink()
    (tmp_path / "child.started").unlink()
    os.kill(child.identity.pid, signal.SIGKILL)
    until_true(lambda: tail(child.spec.log).count("not now") > 1)
    assert not child.returns(0.1)
    allowed.touch()
    assert child.returns()


# Waits that count the seconds without progress: the clock of these tests moves only when somebody sleeps.


WIDGET = crd("patience.test", "Widget", {})


class Clock:
    """Stands for the module `time`."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 1000.0
        self.step = step
        """How long each look takes."""

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + self.step


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in (patience, waiting, crds):
        monkeypatch.setattr(module, "time", made)
    return made


def waits(clock: Clock, look: Callable[[Patience], bool], seconds: float = 60.0) -> float:
    """Seconds until the patience ends, with a look each second."""
    began, one = clock.now, Patience(seconds)
    while look(one):
        clock.sleep(1.0)
    return clock.now - began


def test_nothing_that_changes_ends_the_wait(clock: Clock) -> None:
    assert waits(clock, lambda one: one.look("the same")) == 60.0
    changes = iter([*range(200), *[199] * 1000])
    assert waits(clock, lambda one: one.look(next(changes))) == 259.0


def test_looks_that_take_long_say_that_the_machine_is_busy(clock: Clock) -> None:
    clock.step = 29.0
    looks = 60.0 / COUNTED
    assert waits(clock, lambda one: one.look("the same")) == pytest.approx(30.0 * looks, abs=30.0)


def test_what_nobody_answers_is_no_progress(clock: Clock) -> None:
    clock.step = 29.0
    assert waits(clock, lambda one: one.look(answered=False)) == 60.0


def test_a_change_for_ever_ends_too(clock: Clock) -> None:
    numbers = itertools.count()
    assert waits(clock, lambda one: one.look(next(numbers))) == 60.0 * MOST


def test_the_error_says_how_long_nothing_changed(clock: Clock) -> None:
    changes = iter([*range(100), *[99] * 1000])
    with pytest.raises(TimeoutError, match=r"it is not there after 1[56]\d s, the last 6\d of them without progress"):
        waiting.until(lambda: None, 60.0, "it is not there", sight=lambda: next(changes), longest=1.0)


def test_a_server_that_does_not_answer_for_a_while_is_asked_again(clock: Clock) -> None:
    poll = Mock(side_effect=[UnreachableError("refused")] * 20 + ["here"])
    assert waiting.until(poll, 60.0, "it is not there", longest=1.0) == "here"

    refused = Mock(side_effect=UnreachableError("the API server does not answer: refused"))
    with pytest.raises(TimeoutError, match=r"it is not there after 6\d s \(the API server does not answer: refused\)"):
        waiting.until(refused, 60.0, "it is not there", longest=1.0)


class Busy(KubeClient):
    """An API server that serves one more group of CRDs each minute, and the widgets of this test after some time."""

    def __init__(self, clock: Clock, served_after: float, every: float = 60.0) -> None:
        self._clock, self._began, self._after, self._every = clock, clock.now, served_after, every
        self.discovery = self  # type: ignore[assignment]

    def forget(self, group: str) -> None: ...

    def find(self, api_version: str, kind: str) -> ResourceType:
        if self._clock.now - self._began < self._after:
            raise NoSuchKindError(api_version, kind)
        return ResourceType(api_version, kind, "widgets", True, frozenset())

    def get_path(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        assert path == "/apis"
        served = min(self._clock.now - self._began, 600.0) // self._every
        return {"groups": [{"versions": [{"groupVersion": f"g{number}/v1"}]} for number in range(int(served))]}

    def get(self, ref: Ref) -> Object | None:
        names = {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts"}
        established = {"type": "Established", "status": "False", "reason": "Installing"}
        return {**WIDGET, "status": {"conditions": [names, established]}}


def test_a_crd_is_awaited_as_long_as_the_api_server_takes_in_others(clock: Clock) -> None:
    crds.wait_until_served(Busy(clock, served_after=580.0), WIDGET)
    assert clock.now >= 1580.0


def test_a_crd_that_nothing_is_done_about_ends_the_wait_with_what_was_last_seen(clock: Clock) -> None:
    with pytest.raises(TimeoutError, match=r"is not served \(last seen: NamesAccepted True .*Established False"):
        crds.wait_until_served(Busy(clock, served_after=1e9, every=1e9), WIDGET)
    assert clock.now < 1000.0 + 2 * crds.ESTABLISH_SECONDS
    with pytest.raises(TimeoutError, match="of them without progress"):
        crds.wait_until_served(Busy(clock, served_after=1e9), WIDGET)


def test_work_is_the_time_of_the_processor_of_a_process_and_its_children() -> None:
    assert Work(os.getpid())() >= 0
    ended = Work(2**22 - 1)
    assert ended() == 0

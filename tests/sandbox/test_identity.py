"""Processes, and those behind a connection."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from sandbox import identity
from sandbox.identity import Peers, ProcessIdentity, end, owner
from tests.support.patience import SECONDS

IGNORES_TERM = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
time.sleep(600)
"""


def test_a_running_process_is_found_by_its_identity() -> None:
    mine = ProcessIdentity.of("test", os.getpid())
    assert mine.find() == psutil.Process(os.getpid())


def test_a_reused_pid_is_not_found() -> None:
    mine = ProcessIdentity.of("test", os.getpid())
    assert replace(mine, started=mine.started - 6000).find() is None


@pytest.mark.parametrize("step", [5, -5, 86_400])
def test_a_step_of_the_clock_changes_no_identity(step: float, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        identity = ProcessIdentity.of("child", child.pid)
        before = psutil.Process(child.pid).create_time()
        # The kernel's boot time of the wall clock moves with that clock (proc(5), /proc/stat, btime).
        real = psutil.boot_time()
        monkeypatch.setattr(psutil._pslinux, "boot_time", lambda: real + step)
        assert psutil.Process(child.pid).create_time() == pytest.approx(before + step, abs=1)
        assert identity.find() is not None
        assert ProcessIdentity.of("child", child.pid) == identity
        child.kill()


def test_a_process_of_another_boot_is_not_found() -> None:
    mine = ProcessIdentity.of("test", os.getpid())
    assert mine.of_this_boot
    other = replace(mine, boot="another")
    assert not other.of_this_boot
    assert other.find() is None


def test_a_stopped_process_lives_and_end_ends_it_at_once() -> None:
    with subprocess.Popen(["sleep", "600"]) as child:
        identity = ProcessIdentity.of("child", child.pid)
        assert not identity.stopped
        child.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED)
        assert identity.stopped
        assert identity.find() is not None
        begun = time.monotonic()
        assert end([identity], grace_seconds=2 * SECONDS) == (identity,)
        assert time.monotonic() - begun < SECONDS
        assert not identity.stopped


def test_an_ended_process_is_not_found_even_while_it_is_a_zombie() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        identity = ProcessIdentity.of("child", child.pid)
        assert identity.find() is not None
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert identity.find() is None


def test_a_pid_without_a_process_has_no_identity() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    with pytest.raises(psutil.NoSuchProcess):
        ProcessIdentity.of("gone", child.pid)


def test_end_kills_a_process_that_ignores_sigterm() -> None:
    with subprocess.Popen([sys.executable, "-c", IGNORES_TERM], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        identity = ProcessIdentity.of("stubborn", child.pid)
        assert end([identity], grace_seconds=0.2) == (identity,)
        assert identity.find() is None


def test_end_does_not_signal_another_process_with_the_pid() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        other = replace(ProcessIdentity.of("other", child.pid), started=1)
        assert end([other]) == ()
        assert child.poll() is None
        child.kill()


def test_end_does_not_wait_until_ended_processes_are_reaped() -> None:
    code = "import subprocess, sys; print(subprocess.Popen(['sleep', '600']).pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = ProcessIdentity.of("child", int(parent.stdout.readline()))
        begun = time.monotonic()
        assert end([child], grace_seconds=2 * SECONDS) == (child,)
        assert time.monotonic() - begun < SECONDS
        assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
        parent.communicate("")


# Connections of other users of the machine are recognized.

NOBODY = 65534


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(SECONDS)
        yield listening


def port_of(one: socket.socket) -> int:
    return int(one.getsockname()[1])


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_connection_of_ours_is_recognized(server: socket.socket, family: socket.AddressFamily) -> None:
    with socket.socket(family) as client:
        client.connect(("127.0.0.1" if family is socket.AF_INET else "::ffff:127.0.0.1", port_of(server)))
        connection, (_, port) = server.accept()
        with connection:
            assert owner(port, port_of(server)) == os.getuid()
            assert Peers().ours(port, port_of(server))


def test_the_same_holds_where_the_kernel_has_no_table(server: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with socket.create_connection(("127.0.0.1", port_of(server))):
        connection, (_, port) = server.accept()
        with connection:
            assert Peers().ours(port, port_of(server))
    assert owner(port, port_of(server) + 1) is None


def test_a_connection_of_another_user_is_not_ours(server: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    bash = shutil.which("bash")
    if os.getuid() != 0 or bash is None:
        pytest.skip("only root starts a process of another user")
    script = f"exec 3<>/dev/tcp/127.0.0.1/{port_of(server)}; read -r -t {SECONDS:.0f} <&3"
    with subprocess.Popen([bash, "-c", script], user=NOBODY, cwd="/", stdin=subprocess.DEVNULL):
        connection, (_, port) = server.accept()
        with connection:
            assert owner(port, port_of(server)) == NOBODY
            assert not Peers().ours(port, port_of(server))
            monkeypatch.setattr(sys, "platform", "darwin")
            assert not Peers().ours(port, port_of(server))


def test_an_unknown_connection_is_not_ours(server: socket.socket) -> None:
    assert owner(1, port_of(server)) is None
    assert not Peers().ours(1, port_of(server))


def test_the_user_is_read_from_the_table_of_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = "  0: {}:C350 {}:1F90 01 00000000:00000000 00:00000000 00000000  {}        0 1234 1 0 20 4 30 10 -1"
    mapped = "0000000000000000FFFF00000100007F"
    rows = [row.format("0100007F", "0200007F", 5), row.format("0100007F", "0100007F", 1001)]
    table, table6 = tmp_path / "tcp", tmp_path / "tcp6"
    table.write_text("\n".join(["sl local rem", *rows]))
    table6.write_text("\n".join(["sl local rem", row.format(mapped, mapped, 1002)]))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(identity, "TABLES", (table, table6))
    assert owner(0xC350, 0x1F90) == 1001
    monkeypatch.setattr(identity, "TABLES", (tmp_path / "none", table6))
    assert owner(0xC350, 0x1F90) == 1002


def test_an_answer_is_remembered_for_a_moment_only(server: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def look_up(port: int, _: int) -> int:
        asked.append(port)
        return os.getuid()

    monkeypatch.setattr(identity, "owner", look_up)
    remembering, forgetting = Peers(remember=60), Peers(remember=0)
    for one in (remembering, remembering, forgetting, forgetting):
        assert one.ours(7, port_of(server))
    assert len(asked) == 3


def test_root_may_and_others_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    for user, expected in ((1000, True), (0, True), (1001, False), (None, False)):
        monkeypatch.setattr(identity, "owner", lambda *_, user=user: user)
        assert Peers(remember=0).ours(7, 8) is expected

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace

import psutil
import pytest

from slipway.sandbox.cluster.identity import ProcessIdentity, end

IGNORES_TERM = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
time.sleep(60)
"""


def test_a_running_process_is_found_by_its_identity() -> None:
    mine = ProcessIdentity.of("test", os.getpid())
    assert mine.find() == psutil.Process(os.getpid())


def test_a_reused_pid_is_not_found() -> None:
    mine = ProcessIdentity.of("test", os.getpid())
    assert replace(mine, create_time=mine.create_time - 60).find() is None


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
        other = replace(ProcessIdentity.of("other", child.pid), create_time=1.0)
        assert end([other]) == ()
        assert child.poll() is None
        child.kill()


def test_end_does_not_wait_until_ended_processes_are_reaped() -> None:
    code = "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = ProcessIdentity.of("child", int(parent.stdout.readline()))
        begun = time.monotonic()
        assert end([child], grace_seconds=30) == (child,)
        assert time.monotonic() - begun < 15
        assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
        parent.communicate("")

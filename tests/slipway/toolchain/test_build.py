from pathlib import Path

import pytest

from slipway.toolchain.build import arguments, go_command, obstacle
from slipway.toolchain.tools import Tool, get
from tests.slipway.toolchain.conftest import FakeGo, WriteScript


def test_the_linker_is_told_the_version() -> None:
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


def test_go_is_asked_for_its_version(fake_go: FakeGo) -> None:
    fake_go("")
    go = go_command()
    assert go is not None
    assert (go.version, go.switches) == ((1, 30), False)


@pytest.mark.parametrize(
    ("version", "toolchain", "expected"),
    [
        ("go1.26.8", "local", None),
        ("go1.27", "auto", None),
        ("go1.22.1", "auto", None),  # fetches the toolchain that go.mod asks for
        ("go1.22.1", "local", "Go 1.22 at {path} is too old: install Go 1.26 or newer from https://go.dev/dl/"),
        ("go1.20.5", "auto", "Go 1.20 at {path} is too old: install Go 1.26 or newer from https://go.dev/dl/"),
    ],
)
def test_a_go_that_cannot_build_is_named_with_what_to_install(
    gadget: Tool, machine: Path, script: WriteScript, version: str, toolchain: str, expected: str | None
) -> None:
    path = script(machine / "bin" / "go", f"printf '{version}\\n{toolchain}\\n'")
    assert gadget.go is not None
    assert obstacle(gadget.go, go_command()) == (expected and expected.format(path=path))


@pytest.mark.parametrize("body", [None, "exit 1", "echo what"])
def test_no_go_or_a_broken_one_is_named_with_what_to_install(
    gadget: Tool, machine: Path, script: WriteScript, monkeypatch: pytest.MonkeyPatch, body: str | None
) -> None:
    # Not even the system's directories: some machines have a go there.
    monkeypatch.setenv("PATH", str(machine / "bin"))
    if body is not None:
        script(machine / "bin" / "go", body)
    assert gadget.go is not None
    assert go_command() is None
    assert obstacle(gadget.go, None) == (
        "Go is not installed: install Go 1.26 or newer from https://go.dev/dl/ and put `go` on PATH"
    )

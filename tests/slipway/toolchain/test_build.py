from pathlib import Path

import pytest

from slipway.errors import AttemptError
from slipway.toolchain.build import arguments, go_command, obstacle, require
from slipway.toolchain.tools import Tool, get
from tests.slipway.toolchain.conftest import FakeGo, WriteScript


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

"""A machine made of shell scripts: its PATH holds only what the test puts there, its cache is empty."""

import os
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.toolchain import install, locate, tools
from sandbox.toolchain.tools import Accepts, GoBuild, Tool
from tests.support.patience import SECONDS

WriteScript = Callable[[Path, str], Path]
FakeGo = Callable[[str], Path]

FAKE_GO = """
    echo "$@" >> "{calls}"
    if [ "$1" = env ]; then printf 'go1.30.1\\nlocal\\n'; exit 0; fi
    while [ $# -gt 0 ]; do [ "$1" = -o ] && output=$2; shift; done
    echo example.org/first; echo example.org/second >&2
    {action}
    printf '#!/bin/sh\\necho gadget v1.2.3\\n' > "$output"
    chmod +x "$output"
"""


@pytest.fixture
def script() -> WriteScript:
    """Writes an executable shell script."""

    def write(path: Path, body: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + textwrap.dedent(body))
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty machine: `bin` of the returned directory is first on PATH, and no tool is known to it."""
    for name in [name for name in os.environ if name.startswith(("SLIPWAY_", "KUBEBUILDER_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "bin").mkdir()
    # The system's own directories, for sh and its commands.
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), "/usr/bin", "/bin"]))
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "cache"))
    # Nothing may reach the network: this proxy refuses every connection.
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setattr(install, "_ANSWER_SECONDS", SECONDS)
    locate.ask_once.cache_clear()
    locate.say_once.cache_clear()
    return tmp_path


@pytest.fixture
def gadget(machine: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """A tool of the table that is built from a module on this machine, and is not installed yet."""
    module = machine / "module"
    module.mkdir()
    (module / "go.mod").write_text("module slipway.local/tools/gadget\n\ngo 1.26\n")
    build = GoBuild(module=str(module), package="example.org/cmd/gadget", ldflags=("-X main.version=v{version}",))
    tool = Tool(
        name="gadget",
        version="1.2.3",
        accepts=Accepts.SAME_MAJOR,
        version_arguments=("version",),
        documentation="https://example.org/gadget",
        go=build,
        in_kubebuilder_assets=True,
    )
    monkeypatch.setattr(tools, "TOOLS", {tool.name: tool})
    return tool


@pytest.fixture
def fake_go(machine: Path, script: WriteScript) -> FakeGo:
    """Puts a `go` on PATH that logs its calls, does `action` and then writes the binary; returns the log."""

    def install(action: str) -> Path:
        calls = machine / "go-calls"
        script(machine / "bin" / "go", textwrap.dedent(FAKE_GO).format(calls=calls, action=action))
        return calls

    return install

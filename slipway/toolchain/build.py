"""Building a tool from source: `go build` in a module of this repository, whose go.sum pins all of its code.

Go's build cache keeps each compiled package, so an interrupted build continues where it stopped.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from slipway.errors import AttemptError
from slipway.toolchain import cache, process
from slipway.toolchain.progress import Progress
from slipway.toolchain.tools import GoBuild, Tool

GO_INSTALL = "https://go.dev/dl/"
_SWITCHES_BY_ITSELF = (1, 21)
"""From 1.21 on, `go` downloads the newer version that go.mod needs, unless GOTOOLCHAIN=local (go.dev/doc/toolchain)."""


@dataclass(frozen=True)
class Go:
    """The Go command on this machine."""

    path: Path
    version: tuple[int, int]
    switches: bool
    """Whether it downloads a newer toolchain by itself when a module needs one."""


def minimum_version(build: GoBuild) -> tuple[int, int]:
    """The oldest Go that can build the module, from the `go` line of its go.mod."""
    match = re.search(r"^go (\d+)\.(\d+)", (build.directory / "go.mod").read_text(), re.MULTILINE)
    if match is None:
        msg = f"{build.directory / 'go.mod'} has no `go` line"
        raise AttemptError(msg)
    return int(match[1]), int(match[2])


def go_command() -> Go | None:
    """The `go` on PATH; None if there is none or it does not run."""
    path = shutil.which("go")
    if path is None:
        return None
    # Run in the root directory, where no go.mod makes it switch to another version first.
    answer = subprocess.run(
        [path, "env", "GOVERSION", "GOTOOLCHAIN"], cwd="/", capture_output=True, text=True, check=False, timeout=60
    )
    match = re.match(r"go(\d+)\.(\d+)", answer.stdout)
    if answer.returncode or match is None:
        return None
    version = (int(match[1]), int(match[2]))
    local = answer.stdout.split()[-1].startswith("local")
    return Go(Path(path), version, switches=version >= _SWITCHES_BY_ITSELF and not local)


def require(build: GoBuild, go: Go | None) -> Go:
    """The Go command, if it can build the module.

    Raises:
        AttemptError: There is no Go, or it is too old; the text says which version to install.
    """
    minimum = minimum_version(build)
    wanted = ".".join(map(str, minimum))
    if go is None:
        msg = f"Go is not installed: install Go {wanted} or newer from {GO_INSTALL} and put `go` on PATH"
        raise AttemptError(msg)
    if go.version < minimum and not go.switches:
        have = ".".join(map(str, go.version))
        msg = f"Go {have} at {go.path} is too old: install Go {wanted} or newer from {GO_INSTALL}"
        raise AttemptError(msg)
    return go


def obstacle(build: GoBuild, go: Go | None) -> str | None:
    """Why `require` would fail; None if the Go command can build the module."""
    try:
        require(build, go)
    except AttemptError as error:
        return str(error)
    return None


def arguments(tool: Tool, build: GoBuild, output: Path) -> list[str]:
    """The arguments with which `go` builds the tool into `output`. -v prints each package as it is compiled."""
    major, minor, _ = tool.version.split(".")
    flags = " ".join(("-s -w", *build.ldflags)).format(version=tool.version, major=major, minor=minor)
    return ["build", "-v", "-mod=readonly", "-o", str(output), "-ldflags", flags, build.package]


def build_into(directory: Path, tool: Tool, build: GoBuild, progress: Progress) -> None:
    """Builds the tool as `directory/bin/<name>`.

    Raises:
        AttemptError: No usable Go, modules that can't be downloaded, or a compile error.
    """
    go = require(build, go_command())
    progress.note(
        f"{tool.name} {tool.version}: building from source with Go, about {build.minutes:g} min on 2 cores"
        f" (log: {cache.log_file(tool)})"
    )
    process.run(
        [go.path, *arguments(tool, build, directory / "bin" / tool.name)],
        directory=build.directory,
        # A go.work file in a parent directory must not change what is built.
        environment={**os.environ, "GOWORK": "off"},
        log=cache.log_file(tool),
        progress=progress,
    )
    cache.mark_verified(directory)

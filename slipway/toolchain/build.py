"""Building a tool from source, with `go build` in a module of ours whose go.sum pins every line of code.

Go's own build cache keeps each finished package, so a build that was interrupted goes on where it stopped.
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
"""From 1.21 on a `go` that is too old fetches the one of go.mod, unless GOTOOLCHAIN=local (go.dev/doc/toolchain)."""


@dataclass(frozen=True)
class Go:
    """The Go command on this machine."""

    path: Path
    version: tuple[int, int]
    switches: bool
    """May fetch a newer toolchain by itself."""


def minimum_version(build: GoBuild) -> tuple[int, int]:
    """The oldest Go that can build the module, from the `go` line of its go.mod."""
    match = re.search(r"^go (\d+)\.(\d+)", (build.directory / "go.mod").read_text(), re.MULTILINE)
    if match is None:
        msg = f"{build.directory / 'go.mod'} has no `go` line"
        raise AttemptError(msg)
    return int(match[1]), int(match[2])


def go_command() -> Go | None:
    """The `go` on PATH; None when there is none or it does not run."""
    path = shutil.which("go")
    if path is None:
        return None
    # In the root directory, so that no go.mod makes it switch to another version before it answers.
    answer = subprocess.run(
        [path, "env", "GOVERSION", "GOTOOLCHAIN"], cwd="/", capture_output=True, text=True, check=False, timeout=60
    )
    match = re.match(r"go(\d+)\.(\d+)", answer.stdout)
    if answer.returncode or match is None:
        return None
    version = (int(match[1]), int(match[2]))
    local = answer.stdout.split()[-1].startswith("local")
    return Go(Path(path), version, switches=version >= _SWITCHES_BY_ITSELF and not local)


def obstacle(build: GoBuild, go: Go | None) -> str | None:
    """Why this machine cannot build the module, with what to install; None when it can."""
    wanted = ".".join(map(str, minimum_version(build)))
    if go is None:
        return f"Go is not installed: install Go {wanted} or newer from {GO_INSTALL} and put `go` on PATH"
    if go.version < minimum_version(build) and not go.switches:
        have = ".".join(map(str, go.version))
        return f"Go {have} at {go.path} is too old: install Go {wanted} or newer from {GO_INSTALL}"
    return None


def arguments(tool: Tool, build: GoBuild, output: Path) -> list[str]:
    """The arguments of `go` that build the tool into `output`. -v names each package as it is compiled."""
    major, minor, _ = tool.version.split(".")
    flags = " ".join(("-s -w", *build.ldflags)).format(version=tool.version, major=major, minor=minor)
    return ["build", "-v", "-mod=readonly", "-o", str(output), "-ldflags", flags, build.package]


def build_into(directory: Path, tool: Tool, build: GoBuild, progress: Progress) -> None:
    """Builds the tool as `directory/bin/<name>`.

    Raises:
        AttemptError: no usable Go, modules out of reach, or a compile error.
    """
    go = go_command()
    why = obstacle(build, go)
    if why is not None or go is None:
        raise AttemptError(why or "no Go")
    progress.note(
        f"{tool.name} {tool.version}: building from source with Go, about {build.minutes:g} min on 2 cores"
        f" (log: {cache.log_file(tool)})"
    )
    process.run(
        [go.path, *arguments(tool, build, directory / "bin" / tool.name)],
        directory=build.directory,
        # A workspace file in some parent directory must not change what is built.
        environment={**os.environ, "GOWORK": "off"},
        log=cache.log_file(tool),
        progress=progress,
    )

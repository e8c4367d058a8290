"""Ensures that a tool exists: finds it, else installs it, else builds it, with one error that lists all failed ways."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import AttemptError, ToolError
from sandbox.toolchain import archive, building, cache, install, locate, patched, process
from sandbox.toolchain.process import Progress
from sandbox.toolchain.tools import GoBuild, Tool, get

# Building a tool from source: `go build` in a module of this repository, whose go.sum pins all of its code.
#
# Go's build cache keeps each compiled package, so an interrupted build continues where it stopped.

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


def arguments(tool: Tool, build: GoBuild, output: Path, *more: str) -> list[str]:
    """The arguments with which `go` builds the tool into `output`. -v prints each package as it is compiled."""
    major, minor, _ = tool.version.split(".", 2)
    flags = " ".join(("-s -w", *build.ldflags)).format(version=tool.version, major=major, minor=minor)
    return ["build", "-v", "-mod=readonly", *more, "-o", str(output), "-ldflags", flags, build.package]


def build_into(directory: Path, tool: Tool, build: GoBuild, progress: Progress) -> None:
    """Builds the tool as `directory/bin/<name>`.

    Raises:
        AttemptError: No usable Go, modules that can't be downloaded, or a compile error.
    """
    go = require(build, go_command())
    # A go.work file in a parent directory must not change what is built.
    environment = {**os.environ, "GOWORK": "off"}
    waits = f"{tool.name}: another process is building {{}}; waiting for it"
    turn = building.turn(tool, lambda other: progress.note(waits.format(other)))
    with turn as lock, patched.arguments(build, go.path, environment) as more:
        progress.note(
            f"{tool.name} {tool.version}: building from source with Go, {building.about(build.minutes)}"
            f" (log: {cache.log_file(tool)})"
        )
        process.run(
            [go.path, *arguments(tool, build, directory / "bin" / tool.name, *more)],
            directory=build.directory,
            environment=environment,
            log=cache.log_file(tool),
            progress=progress,
            inherits=(lock,),
        )
    cache.mark_verified(directory)


_Way = Callable[[Path], None]


def ensure(name: str, *, pinned: bool = False, read: bool = False) -> Path:
    """The binary of a tool; if this machine has none, it is downloaded from its project or built by `go build`.

    Progress goes to stderr. The binary stays in the cache, for every checkout of this user. An interrupt leaves no
    incomplete tool, and the next call continues from Go's build cache. With `pinned`, a download needs a committed
    checksum, Go verifies the source by the committed go.sum anyway, and a binary of the machine does not count. With
    `read`, a binary of the cache is compared with its sum, and made anew if it has changed.

    Raises:
        ToolError: There is no such tool, or no way to obtain it works; the text names each way and what to do.
        KeyboardInterrupt: Ctrl-C, after the compiler has ended.
    """
    tool = get(name)
    if found := locate.search(tool, pinned=pinned, read=read):
        return found.path
    progress = Progress(f"{tool.name} {tool.version}")
    # Before the lock of one tool: it brings all of them.
    why = archive.unpack(tool, progress, lambda: not locate.search(tool, pinned=pinned, read=read), pinned=pinned)
    with cache.locked(tool, lambda: progress.note(f"{tool.name}: another process is installing it; waiting for it")):
        # The process that held the lock before us may have installed it.
        if found := locate.search(tool, pinned=pinned, read=read):
            return found.path
        return _make(tool, progress, why, pinned=pinned)


def _make(tool: Tool, progress: Progress, why: str, *, pinned: bool) -> Path:
    obstacles = [why] if why else []
    for way, attempt in _ways(tool, progress, pinned=pinned):
        try:
            with cache.filling(tool) as directory:
                attempt(directory)
                _verify(tool, directory / "bin" / tool.name)
        except AttemptError as failure:
            obstacles.append(f"{way}: {failure}")
        else:
            progress.finish(f"installed by {way}")
            return cache.binary(tool)
    raise ToolError(_nothing_works(tool, obstacles))


def _ways(tool: Tool, progress: Progress, *, pinned: bool) -> list[tuple[str, _Way]]:
    ways: list[tuple[str, _Way]] = []
    if tool.installer is not None:
        ways.append(("download", lambda directory: install.install_into(directory, tool, progress, pinned=pinned)))
    if (go := tool.go) is not None:
        ways.append(("go build", lambda directory: build_into(directory, tool, go, progress)))
    return ways


def _verify(tool: Tool, binary: Path) -> None:
    """Keep a binary out of the cache if it does not run or has another version than requested.

    The version of one that prints none is that of its module, which go.sum verifies.
    """
    if not tool.version_arguments:
        return
    version = locate.ask(binary, tool.version_arguments)
    if version != tool.version:
        msg = f"the resulting binary reports version {version or 'nothing'} instead of {tool.version}"
        raise AttemptError(msg)


def _nothing_works(tool: Tool, obstacles: list[str]) -> str:
    tried = "".join(f"\n  - {obstacle}" for obstacle in ("PATH and cache: not found", *obstacles))
    ways_out = []
    if tool.version_arguments:
        ways_out.append(
            f"install {tool.name} {tool.version} or one with {tool.accepts.value} ({tool.documentation}) on PATH,"
        )
    ways_out.append(f"{'or ' if ways_out else ''}set {tool.variable} to its path,")
    if tool.go:
        wanted = ".".join(map(str, minimum_version(tool.go)))
        ways_out.append(f"or install Go {wanted} or newer ({GO_INSTALL}), be online, and run this again.")
    return f"{tool.name} {tool.version} is missing and can't be installed:{tried}\nEither " + "\n    ".join(ways_out)

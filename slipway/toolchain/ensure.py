"""Ensures that a tool exists: finds it, else installs it, else builds it, with one error that lists all failed ways."""

from collections.abc import Callable
from pathlib import Path

from slipway.errors import AttemptError, ToolError
from slipway.toolchain import build, cache, install, locate, versions
from slipway.toolchain.progress import Progress
from slipway.toolchain.tools import Tool, get

_Way = Callable[[Path], None]


def ensure(name: str, *, pinned: bool = False) -> Path:
    """The binary of a tool; if this machine has none, it is downloaded from its project or built by `go build`.

    Progress goes to stderr. The binary stays in the cache, for every checkout of this user. An interrupt leaves no
    incomplete tool, and the next call continues from Go's build cache. With `pinned`, a download needs a committed
    checksum, Go verifies the source by the committed go.sum anyway, and a binary of the machine does not count.

    Raises:
        ToolError: There is no such tool, or no way to obtain it works; the text names each way and what to do.
        KeyboardInterrupt: Ctrl-C, after the compiler has ended.
    """
    tool = get(name)
    if found := locate.search(tool, pinned=pinned):
        return found.path
    progress = Progress(f"{tool.name} {tool.version}")
    with cache.locked(tool, lambda: progress.note(f"{tool.name}: another process is installing it; waiting for it")):
        # The process that held the lock before us may have installed it.
        if found := locate.search(tool, pinned=pinned):
            return found.path
        return _make(tool, progress, pinned=pinned)


def _make(tool: Tool, progress: Progress, *, pinned: bool) -> Path:
    obstacles: list[str] = []
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
        ways.append(("go build", lambda directory: build.build_into(directory, tool, go, progress)))
    return ways


def _verify(tool: Tool, binary: Path) -> None:
    """Keep a binary out of the cache if it does not run or has another version than requested.

    The version of one that prints none is that of its module, which go.sum verifies.
    """
    if not tool.version_arguments:
        return
    version = versions.ask(binary, tool.version_arguments)
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
        wanted = ".".join(map(str, build.minimum_version(tool.go)))
        ways_out.append(f"or install Go {wanted} or newer ({build.GO_INSTALL}), be online, and run this again.")
    return f"{tool.name} {tool.version} is missing and can't be installed:{tried}\nEither " + "\n    ".join(ways_out)

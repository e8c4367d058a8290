"""Making sure that a tool is there: found, else installed, else built, with one message when nothing works."""

from collections.abc import Callable
from pathlib import Path

from slipway.errors import AttemptError, ToolError
from slipway.toolchain import build, cache, install, locate, versions
from slipway.toolchain.progress import Progress
from slipway.toolchain.tools import Tool, get

_Way = Callable[[Path], None]


def ensure(name: str) -> Path:
    """The binary of a tool, made if this machine has none: by the project's own installer, else with `go build`.

    Progress goes to stderr. What is made stays in the cache, for every checkout of this user. An interrupt leaves no
    half-made tool, and the next call goes on from Go's build cache.

    Raises:
        ToolError: no such tool, or no way to it works on this machine; the text names each way and what to do.
        KeyboardInterrupt: Ctrl-C, once the compiler is gone.
    """
    tool = get(name)
    if found := locate.search(tool):
        return found.path
    progress = Progress(f"{tool.name} {tool.version}")
    with cache.locked(tool, lambda: progress.note(f"{tool.name}: another process is making it; waiting for it")):
        # Whoever held the lock before us may have made it.
        if found := locate.search(tool):
            return found.path
        return _make(tool, progress)


def _make(tool: Tool, progress: Progress) -> Path:
    obstacles: list[str] = []
    for way, attempt in _ways(tool, progress):
        try:
            with cache.filling(tool) as directory:
                attempt(directory)
                _verify(tool, directory / "bin" / tool.name)
        except AttemptError as failure:
            obstacles.append(f"{way}: {failure}")
        else:
            progress.finish(f"made by {way}")
            return cache.binary(tool)
    raise ToolError(_nothing_works(tool, obstacles))


def _ways(tool: Tool, progress: Progress) -> list[tuple[str, _Way]]:
    ways: list[tuple[str, _Way]] = []
    if tool.installer is not None:
        ways.append(("its own installer", lambda directory: install.install_into(directory, tool, progress)))
    if (go := tool.go) is not None:
        ways.append(("go build", lambda directory: build.build_into(directory, tool, go, progress)))
    return ways


def _verify(tool: Tool, binary: Path) -> None:
    """A binary that does not run, or is not what was asked for, never gets into the cache."""
    version = versions.ask(binary, tool.version_arguments)
    if version != tool.version:
        msg = f"the binary that was made says version {version or 'nothing'} instead of {tool.version}"
        raise AttemptError(msg)


def _nothing_works(tool: Tool, obstacles: list[str]) -> str:
    tried = "".join(f"\n  - {obstacle}" for obstacle in ("PATH and cache: not there", *obstacles))
    ways_out = [f"install {tool.name} {tool.version} or one with {tool.accepts.value} ({tool.documentation}) on PATH,"]
    ways_out.append(f"or set {tool.variable} to its path,")
    if tool.go:
        wanted = ".".join(map(str, build.minimum_version(tool.go)))
        ways_out.append(f"or install Go {wanted} or newer ({build.GO_INSTALL}), be online, and run this again.")
    return f"{tool.name} {tool.version} is missing and could not be made:{tried}\nEither " + "\n    ".join(ways_out)

"""The cache of binaries, outside the tree: a directory per tool, version and platform, filled by one atomic rename.

    <cache>/tools/<name>/<version>/<os>-<arch>/bin/<name>     a finished tool, never changed
    <cache>/tools/<name>/<version>/.<os>-<arch>.partial       one being made; left behind only by a killed process
    <cache>/tools/<name>/<version>/.<os>-<arch>.lock          held while it is being made
    <cache>/logs/<name>-<version>.log                         what its installer or compiler said

`<cache>` is `root()`. Whoever makes a tool holds its lock.
"""

import fcntl
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from slipway.toolchain.tools import Tool

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def root() -> Path:
    """`$SLIPWAY_CACHE`, else `$XDG_CACHE_HOME/slipway`, else `~/.cache/slipway`."""
    if own := os.environ.get("SLIPWAY_CACHE"):
        return Path(own).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "slipway"


def system() -> str:
    """The operating system as Go and the projects' release files name it: linux, darwin."""
    return sys.platform


def architecture() -> str:
    """The processor as Go names it: amd64, arm64."""
    machine = platform.machine().lower()
    return _ARCHITECTURES.get(machine, machine)


def directory(tool: Tool) -> Path:
    """Where a finished tool stands; its binary is `bin/<name>` below."""
    return root() / "tools" / tool.name / tool.version / f"{system()}-{architecture()}"


def binary(tool: Tool) -> Path:
    """The path of the tool's binary in the cache, whether it exists or not."""
    return directory(tool) / "bin" / tool.name


def log_file(tool: Tool) -> Path:
    """Where the last installation or build of the tool is recorded."""
    return root() / "logs" / f"{tool.name}-{tool.version}.log"


def is_executable(path: Path) -> bool:
    """Whether the path is a file that may be run."""
    return path.is_file() and os.access(path, os.X_OK)


@contextmanager
def locked(tool: Tool, on_wait: Callable[[], None]) -> Iterator[None]:
    """Holds the tool's lock; `on_wait` is called once if another process has it. The system frees it when we die."""
    path = directory(tool).with_name(f".{directory(tool).name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        waiting = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not waiting:
                    on_wait()
                waiting = True
                time.sleep(0.2)
        yield


@contextmanager
def filling(tool: Tool) -> Iterator[Path]:
    """A new empty directory that becomes `directory(tool)` when the block ends well, and vanishes when it does not.

    The caller holds the lock, so whatever an earlier process left here is nobody's.
    """
    final = directory(tool)
    partial = final.with_name(f".{final.name}.partial")
    _remove(partial)
    (partial / "bin").mkdir(parents=True)
    try:
        yield partial
        _remove(final)
        partial.rename(final)
    finally:
        _remove(partial)


def _remove(directory: Path) -> None:
    if directory.exists():
        shutil.rmtree(directory)

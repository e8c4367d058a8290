"""The cache of binaries, outside the checkout: a directory per tool, version and platform, filled by one atomic rename.

    <cache>/tools/<name>/<version>/<os>-<arch>/bin/<name>     a finished tool, never changed
    <cache>/tools/<name>/<version>/<os>-<arch>/verified       if a sum of this repository verified it
    <cache>/tools/<name>/<version>/.<os>-<arch>.partial       an unfinished one; only a killed process leaves it behind
    <cache>/tools/<name>/<version>/.<os>-<arch>.lock          held during the installation or build
    <cache>/logs/<name>-<version>.log                         output of the installer or compiler

A tool with source of its own in this repository has a hash of it behind its version. `<cache>` is `root()`. A process
holds the lock of a tool while it installs or builds it.
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

_VERIFIED = "verified"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def root() -> Path:
    """`$SLIPWAY_CACHE`, else `$XDG_CACHE_HOME/slipway`, else `~/.cache/slipway`."""
    if own := os.environ.get("SLIPWAY_CACHE"):
        return Path(own).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "slipway"


def system() -> str:
    """The operating system as Go and release files name it: linux, darwin."""
    return sys.platform


def architecture() -> str:
    """The processor as Go names it: amd64, arm64."""
    machine = platform.machine().lower()
    return _ARCHITECTURES.get(machine, machine)


def directory(tool: Tool) -> Path:
    """The directory of a finished tool; its binary is `bin/<name>` below."""
    source = f"-{tool.go.digest}" if tool.go and tool.go.digest else ""
    return root() / "tools" / tool.name / f"{tool.version}{source}" / f"{system()}-{architecture()}"


def binary(tool: Tool) -> Path:
    """The path of the tool's binary in the cache, whether it exists or not."""
    return directory(tool) / "bin" / tool.name


def mark_verified(folder: Path) -> None:
    """Record that a committed sum verified what is in the directory of a tool or a plugin."""
    (folder / _VERIFIED).touch()


def verified(folder: Path) -> bool:
    """Whether a committed sum verified what is in the directory of a tool or a plugin."""
    return (folder / _VERIFIED).is_file()


def log_file(tool: Tool) -> Path:
    """The log of the tool's last installation or build."""
    return root() / "logs" / f"{tool.name}-{tool.version}.log"


def is_executable(path: Path) -> bool:
    """Whether the path is an executable file."""
    return path.is_file() and os.access(path, os.X_OK)


@contextmanager
def locked(tool: Tool, on_wait: Callable[[], None]) -> Iterator[None]:
    """Holds the tool's lock; calls `on_wait` once if another process has it. The kernel releases it when we end."""
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
    """A new directory that becomes `directory(tool)` if the block succeeds, and is removed if it fails.

    The caller holds the lock, so files that an earlier process left here are unused and are removed.
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

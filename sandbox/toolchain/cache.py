"""The cache of binaries, outside the checkout: a directory per tool, version and platform, filled by one rename."""

import fcntl
import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TextIO

from sandbox.toolchain.tools import Tool

# What a finished tool consists of: a file `contents` in its directory with SHA-256, size and name of each binary.
#
# It finds damage: a disk that filled up, a cache that another machine saved and that came back incomplete. It is no
# proof of origin, since whoever changes a binary can change this file (`cache.verified` is about that). A binary is
# read again once its inode changed after this file was written, by its time of change, which nobody can set: so each
# command finds damage, and reads nothing twice.

_FILE = "contents"


def record(directory: Path) -> None:
    """Write the file for the binaries that are in the directory of a tool."""
    lines = [f"{_digest(path)} {path.stat().st_size} {path.name}\n" for path in sorted((directory / "bin").iterdir())]
    (directory / _FILE).write_text("".join(lines), encoding="utf-8")


def damage(directory: Path, *, read: bool = False) -> str | None:
    """What is wrong with the binaries of a tool; None if they are as they were recorded.

    Sizes are always compared. The content of all is with `read`, which takes 0.2 s for 100 MB (2026-11), and else of
    those that changed since they were last found to be right.
    """
    try:
        recorded = list(_recorded(directory))
    except (OSError, ValueError):
        return f"{directory / _FILE} is missing or damaged"
    checked = (directory / _FILE).stat().st_mtime_ns
    changed = False
    for digest, size, path in recorded:
        if not path.is_file():
            return f"{path} is missing"
        found = path.stat()
        if found.st_size != size:
            return f"{path} has {found.st_size} bytes instead of {size}"
        changed |= found.st_ctime_ns > checked
        if (read or found.st_ctime_ns > checked) and _digest(path) != digest:
            return f"{path} has another SHA-256 than when it was installed"
    if changed:
        with suppress(OSError):  # a cache that only somebody else may write is read each time
            os.utime(directory / _FILE)
    return None


def _recorded(directory: Path) -> Iterator[tuple[str, int, Path]]:
    for line in (directory / _FILE).read_text(encoding="utf-8").splitlines():
        digest, size, name = line.split(" ", 2)
        yield digest, int(size), directory / "bin" / name


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


def locked(tool: Tool, on_wait: Callable[[], None]) -> AbstractContextManager[TextIO]:
    """Holds the tool's lock; calls `on_wait` once if another process has it."""
    return holding(directory(tool).with_name(f".{directory(tool).name}.lock"), on_wait)


@contextmanager
def holding(path: Path, on_wait: Callable[[], None]) -> Iterator[TextIO]:
    """Holds the lock of a file, opened to append, until this process and the children that inherit it have ended."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file


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
        record(partial)
        _remove(final)
        partial.rename(final)
    finally:
        _remove(partial)


def _remove(directory: Path) -> None:
    if directory.exists():
        shutil.rmtree(directory)

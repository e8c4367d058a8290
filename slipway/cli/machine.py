"""Findings of `slipway doctor` about the machine: interpreter, tools, cache, disk."""

from __future__ import annotations

import os
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Final

from slipway.cli.checks import Finding, Level
from slipway.toolchain import ToolError, build, locate
from slipway.toolchain import cache as tool_cache
from slipway.toolchain.tools import TOOLS, Download, PulumiInstaller, Tool

PYTHONS: Final = ((3, 11), (3, 13))
"""Oldest and newest; the same as `requires-python` in pyproject.toml."""
NEEDED: Final = ("pulumi", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "etcd")
"""What the sandbox can't start without; without helm, charts are recorded and not rendered."""
BUILD_GIB: Final = 8
"""Go's module cache (2.6 GiB) and build cache (3.8 GiB) after the engine, the API server and helm were built, with the
binaries; 2026-11-21."""
RUN_GIB: Final = 1
"""etcd's log and the logs of the sandbox, with room."""


def python() -> Finding:
    """The interpreter's version."""
    found = ".".join(map(str, sys.version_info[:3]))
    oldest, newest = PYTHONS
    if oldest <= sys.version_info[:2] <= newest:
        return Finding(Level.OK, "Python", f"{found} ({sys.executable})")
    wanted = f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
    return Finding(Level.FAILED, "Python", f"{found} ({sys.executable})", f"use Python {wanted}, then `make setup`")


def tools() -> list[Finding]:
    """Each tool: its version and where it comes from, or how it would be come by; and Go, where one must be built."""
    wanted = [tool for tool in TOOLS.values() if not tool.for_tests]
    findings = [_tool(tool) for tool in wanted]
    missing = [tool for tool in wanted if _search(tool) is None]
    return [*findings, _go(missing)]


def engine_and_sdk() -> Finding:
    """Whether engine and SDK are of one version: the SDK's generated code and the engine's protocol go together."""
    sdk = metadata.version("pulumi")
    found = _search(TOOLS["pulumi"])
    if found is None:
        wanted = TOOLS["pulumi"].version
        return Finding(Level.OK, "engine and SDK", f"SDK {sdk}; the engine will be made in version {wanted}")
    if found.version == sdk:
        return Finding(Level.OK, "engine and SDK", f"both {sdk}")
    return Finding(Level.NOTE, "engine and SDK", f"engine {found.version}, SDK {sdk}: tested together only when equal")


def cache() -> Finding:
    """Whether the cache of binaries can be written."""
    root = tool_cache.root()
    existing = next(path for path in (root, *root.parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Finding(Level.OK, "cache", str(root))
    fix = f"make {existing} writable, or set SLIPWAY_CACHE to a directory that is"
    return Finding(Level.FAILED, "cache", f"{root} can't be written", fix)


def disk() -> Finding:
    """Whether there is room for what has yet to be built."""
    building = any(_search(TOOLS[name]) is None and TOOLS[name].go for name in NEEDED)
    place = Path.home() if building else tool_cache.root()
    place = next(path for path in (place, *place.parents) if path.exists())
    free = shutil.disk_usage(place).free / 2**30
    wanted = BUILD_GIB if building else RUN_GIB
    found = f"{free:.1f} GiB free at {place}, about {wanted} needed"
    if free >= wanted:
        return Finding(Level.OK, "disk", found)
    return Finding(Level.FAILED, "disk", found, f"free {wanted - free:.1f} GiB, or point GOPATH and GOCACHE elsewhere")


def _tool(tool: Tool) -> Finding:
    try:
        found = locate.search(tool)
    except ToolError as error:
        return Finding(Level.FAILED, tool.name, "unusable", str(error))
    if found is not None:
        return Finding(Level.OK, tool.name, f"{found.version} ({found.source}: {found.path})")
    if tool.go is None:
        return Finding(Level.FAILED, tool.name, "missing", "`make setup` installs it")
    without = "" if tool.name in NEEDED else "; without it charts are recorded, not rendered"
    level = Level.FAILED if tool.name in NEEDED and not _downloadable(tool) and _obstacle(tool) else Level.NOTE
    fix = f"`python -m slipway.toolchain ensure {tool.name}` makes it now"
    return Finding(level, tool.name, f"missing; made when first needed, {_how(tool)}{without}", fix)


def _how(tool: Tool) -> str:
    ways = ["by download"] if _downloadable(tool) else []
    if tool.go is not None and _obstacle(tool) is None:
        ways.append(f"with Go in about {tool.go.minutes:g} min")
    return " or ".join(ways) or "but there is no way to"


def _go(missing: list[Tool]) -> Finding:
    go = build.go_command()
    have = "not installed" if go is None else f"{'.'.join(map(str, go.version))} ({go.path})"
    wanting = [tool for tool in missing if tool.go is not None and tool.name in NEEDED]
    if not wanting:
        return Finding(Level.OK, "Go", f"{have}; not needed")
    names = ", ".join(tool.name for tool in wanting)
    why = next((why for tool in wanting if (why := _obstacle(tool))), None)
    if why is None:
        return Finding(Level.OK, "Go", f"{have}; builds {names}")
    if all(_downloadable(tool) for tool in wanting):
        return Finding(Level.NOTE, "Go", f"{have}; needed only if {names} can't be downloaded", why)
    return Finding(Level.FAILED, "Go", f"{have}; needed for {names}", why)


def _downloadable(tool: Tool) -> bool:
    """Whether its project publishes a binary for this system; whether it can be reached, only an attempt shows."""
    installer = tool.installer
    return isinstance(installer, PulumiInstaller) or (
        isinstance(installer, Download) and tool_cache.system() in installer.systems
    )


def _obstacle(tool: Tool) -> str | None:
    return build.obstacle(tool.go, build.go_command()) if tool.go else None


def _search(tool: Tool) -> locate.Found | None:
    try:
        return locate.search(tool)
    except ToolError:
        return None

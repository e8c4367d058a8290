"""Findings of `slipway doctor` about the machine: interpreter, tools, cache, disk."""

from __future__ import annotations

import os
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Final

from slipway.findings import Finding, Level
from slipway.toolchain import ToolError, build, locate
from slipway.toolchain import cache as tool_cache
from slipway.toolchain.tools import TOOLS, Tool

PYTHONS: Final = ((3, 11), (3, 13))
"""Oldest and newest supported version, as `requires-python` in pyproject.toml."""
NEEDED: Final = ("pulumi", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "etcd")
"""Binaries the sandbox needs to start. helm is optional: without it, charts are checked and not installed."""
BUILD_GIB: Final = 8
"""GiB for Go's module cache (2.6) and build cache (3.8) after building the engine, the API server and helm, and for the
binaries; measured 2026-11-21."""
RUN_GIB: Final = 1
"""GiB for etcd's write-ahead log and the sandbox's logs, with headroom."""


def python() -> Finding:
    """The interpreter's version."""
    version = ".".join(map(str, sys.version_info[:3]))
    oldest, newest = PYTHONS
    if oldest <= sys.version_info[:2] <= newest:
        return Finding(Level.OK, "Python", f"{version} ({sys.executable})")
    supported = f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
    return Finding(
        Level.FAILED, "Python", f"{version} ({sys.executable})", f"use Python {supported}, then `make setup`"
    )


def tools() -> list[Finding]:
    """Each tool: its version and source, or how it will be installed; and Go, which builds the missing ones."""
    wanted = [tool for tool in TOOLS.values() if not (tool.for_tests or tool.in_background)]
    findings = [_tool(tool) for tool in wanted]
    missing = [tool for tool in wanted if _search(tool) is None]
    return [*findings, _go(missing)]


def engine_and_sdk() -> Finding:
    """Whether engine and SDK have the same version: the SDK's generated code and the engine's protocol must match."""
    sdk = metadata.version("pulumi")
    found = _search(TOOLS["pulumi"])
    if found is None:
        wanted = TOOLS["pulumi"].version
        return Finding(Level.OK, "engine and SDK", f"SDK {sdk}; engine {wanted} will be installed")
    if found.version == sdk:
        return Finding(Level.OK, "engine and SDK", f"both {sdk}")
    return Finding(Level.NOTE, "engine and SDK", f"engine {found.version}, SDK {sdk}: only equal versions are tested")


def cache() -> Finding:
    """Whether the cache of binaries is writable."""
    root = tool_cache.root()
    existing = next(path for path in (root, *root.parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Finding(Level.OK, "cache", str(root))
    fix = f"make {existing} writable, or set SLIPWAY_CACHE to a directory that is"
    return Finding(Level.FAILED, "cache", f"{root} is not writable", fix)


def disk() -> Finding:
    """Whether there is enough disk space for the tools that must still be built."""
    building = any(_search(TOOLS[name]) is None and TOOLS[name].go for name in NEEDED)
    place = Path.home() if building else tool_cache.root()
    place = next(path for path in (place, *place.parents) if path.exists())
    free = shutil.disk_usage(place).free / 2**30
    wanted = BUILD_GIB if building else RUN_GIB
    space = f"{free:.1f} GiB free at {place}, about {wanted} needed"
    if free >= wanted:
        return Finding(Level.OK, "disk", space)
    return Finding(Level.FAILED, "disk", space, f"free {wanted - free:.1f} GiB, or point GOPATH and GOCACHE elsewhere")


def _tool(tool: Tool) -> Finding:
    try:
        found = locate.search(tool)
    except ToolError as error:
        return Finding(Level.FAILED, tool.name, "unusable", str(error))
    if found is not None:
        return Finding(Level.OK, tool.name, f"{found.version} ({found.source}: {found.path})")
    if tool.go is None:
        return Finding(Level.FAILED, tool.name, "missing", "run `make setup`")
    without = "" if tool.name in NEEDED else "; without it charts are checked, not installed"
    level = Level.FAILED if tool.name in NEEDED and not _downloadable(tool) and _obstacle(tool) else Level.NOTE
    fix = f"to install it now, run `python -m slipway.toolchain ensure {tool.name}`"
    return Finding(level, tool.name, f"missing; {_how(tool)}{without}", fix)


def _how(tool: Tool) -> str:
    ways = ["downloaded"] if _downloadable(tool) else []
    if tool.go is not None and _obstacle(tool) is None:
        ways.append(f"built with Go in about {tool.go.minutes:g} min")
    return f"{' or '.join(ways)} when first needed" if ways else "it can be neither downloaded nor built here"


def _go(missing: list[Tool]) -> Finding:
    go = build.go_command()
    installed = "not installed" if go is None else f"{'.'.join(map(str, go.version))} ({go.path})"
    required = [tool for tool in missing if tool.go is not None and tool.name in NEEDED]
    if not required:
        return Finding(Level.OK, "Go", f"{installed}; not needed")
    names = ", ".join(tool.name for tool in required)
    why = next((why for tool in required if (why := _obstacle(tool))), None)
    if why is None:
        return Finding(Level.OK, "Go", f"{installed}; builds {names}")
    if all(_downloadable(tool) for tool in required):
        return Finding(Level.NOTE, "Go", f"{installed}; needed only if {names} can't be downloaded", why)
    return Finding(Level.FAILED, "Go", f"{installed}; needed for {names}", why)


def _downloadable(tool: Tool) -> bool:
    """Whether its project publishes a binary for this system; reachability is not checked."""
    installer = tool.installer
    return installer is not None and tool_cache.system() in installer.systems


def _obstacle(tool: Tool) -> str | None:
    return build.obstacle(tool.go, build.go_command()) if tool.go else None


def _search(tool: Tool) -> locate.Found | None:
    try:
        return locate.search(tool)
    except ToolError:
        return None

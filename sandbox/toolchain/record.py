"""Writes `checksums.txt` for the versions in use: each file is downloaded once, and compared with what is published."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from sandbox.errors import ToolError
from sandbox.toolchain import install, plugins
from sandbox.toolchain.process import Progress
from sandbox.toolchain.tools import TOOLS, Tool

PLATFORMS = ("linux/amd64", "linux/arm64")
"""What runners have; a laptop uses what its own project publishes."""


def files(platforms: Sequence[str] = PLATFORMS) -> Iterator[tuple[str, Tool | None]]:
    """The addresses of all release files, with the tool; None for a plugin, whose project publishes no checksum."""
    for platform in platforms:
        system, _, architecture = platform.partition("/")
        for tool in TOOLS.values():
            if tool.installer is not None and system in tool.installer.systems:
                yield install.address(tool, tool.installer, system, architecture), tool
        yield from ((plugins.address(name, system, architecture), None) for name in plugins.PROVIDERS)


def record(platforms: Sequence[str] = PLATFORMS) -> int:
    """Write the sums of all files; files that have one keep it unread. Returns how many are new.

    Raises:
        ToolError: A file can't be fetched, or is not the one that its project publishes.
    """
    known, sums = install.committed(), {}
    for url, tool in files(platforms):
        sums[url] = known.get(url) or _sum(url, tool)
    install.write_checksums(sums)
    return len(set(sums) - set(known))


def _sum(url: str, tool: Tool | None) -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            actual = install.fetch(url, Path(folder) / "file", Progress(url.rpartition("/")[2]))
            expected = (
                install.published(url, install.sums(url, tool, tool.installer)) if tool and tool.installer else actual
            )
        except (OSError, ValueError) as error:
            msg = f"{url}: {error}"
            raise ToolError(msg) from error
    if actual != expected:
        msg = f"{url}: its SHA-256 is {actual}, the project publishes {expected}"
        raise ToolError(msg)
    return actual

"""The tools of a release, built, in one archive for each platform (`release.yml`): unpacked into the cache."""

import hashlib
import os
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sandbox.errors import AttemptError
from sandbox.toolchain import cache, install, tools
from sandbox.toolchain.process import Progress
from sandbox.toolchain.tools import Tool

VARIABLE: Final = "SLIPWAY_TOOLCHAIN"
"""Address of the folder with the archives (https, or file), such as that of a release. Without it tools are built."""
_ANSWER_SECONDS: Final = 1.0


def packed() -> list[Tool]:
    """What an archive has: all that is built and not for tests alone."""
    return [tool for tool in tools.TOOLS.values() if tool.go is not None and not tool.for_tests]


def offers(tool: Tool) -> bool:
    """Whether the user has named a folder of archives, which have the tool."""
    return bool(os.environ.get(VARIABLE)) and tool in packed()


def name() -> str:
    """`toolchain-0123456789ab-linux-amd64.tar.gz`, by the versions and sources of what it has."""
    digest = hashlib.sha256("\n".join(map(_place, packed())).encode()).hexdigest()[:12]
    return f"toolchain-{digest}-{cache.system()}-{cache.architecture()}.tar.gz"


def unpack(tool: Tool, progress: Progress, wanted: Callable[[], bool], *, pinned: bool) -> str:
    """Put all tools of the archive into the cache that aren't there, if one of them is wanted when its turn comes.

    Returns why that is impossible, or nothing: the folder does not answer within a second, or has no such archive, or a
    wrong one; with `pinned`, its checksum is not committed.
    """
    if not offers(tool):
        return ""
    with cache.holding(cache.root() / ".archive.lock", lambda: progress.note("another process unpacks the tools")):
        try:
            if wanted():
                _fetch(f"{os.environ[VARIABLE].rstrip('/')}/{name()}", progress, pinned=pinned)
        except (AttemptError, tarfile.TarError) as error:
            progress.note(failure := f"{VARIABLE}: {error}")
            return failure
    return ""


def _fetch(url: str, progress: Progress, *, pinned: bool) -> None:
    with tempfile.TemporaryDirectory(dir=cache.root(), prefix=".archive-") as temporary:
        file = Path(temporary) / "archive"
        verified = install.download(url, f"{url}.sha256", file, progress, pinned=pinned, seconds=_ANSWER_SECONDS)
        folders = {_place(tool): file.with_name(tool.name) for tool in packed()}
        with tarfile.open(file, "r|gz") as archive:
            for one in archive:
                place, _, last = one.name.rpartition("/")
                if one.isfile() and place in folders and (content := archive.extractfile(one)) is not None:
                    folders[place].mkdir(exist_ok=True)
                    # The last part alone, so that no name leads out of the folder.
                    (folders[place] / last).write_bytes(content.read())
                    (folders[place] / last).chmod(0o755)
        for tool in packed():
            folder = folders[_place(tool)]
            with cache.locked(tool, lambda: None):
                if folder.is_dir() and not cache.is_executable(cache.binary(tool)):
                    with cache.filling(tool) as directory:
                        folder.rename(directory / "bin")
                        if verified:
                            cache.mark_verified(directory)


def _place(tool: Tool) -> str:
    """The folder of its binaries in an archive."""
    return (cache.directory(tool) / "bin").relative_to(cache.root()).as_posix()

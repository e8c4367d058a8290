"""Installing a tool from its own project: the installer of the Pulumi SDK, and release files verified by checksum.

Each host is probed first and has 5 seconds to answer, so that a machine without a network does not wait long.
"""

import hashlib
import os
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from slipway.errors import AttemptError
from slipway.toolchain import cache
from slipway.toolchain.process import run
from slipway.toolchain.progress import Progress
from slipway.toolchain.tools import Download, PulumiInstaller, Tool

_ANSWER_SECONDS = 5.0
_READ_SECONDS = 30.0
_INSTALL_SECONDS = 900.0
_CHUNK = 1 << 20

PULUMI_INSTALLER_URL = "https://get.pulumi.com/install.sh"
"""What `PulumiCommand.install` downloads (pulumi 3.258.0, automation/_cmd.py), which has no time-out; probed first."""

_ASK = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=float(sys.argv[2])).close()"
_INSTALL = """
import sys
from pulumi.automation import PulumiCommand
from semver import VersionInfo
PulumiCommand.install(root=sys.argv[1], version=VersionInfo.parse(sys.argv[2]))
"""


def install_into(directory: Path, tool: Tool, progress: Progress) -> None:
    """Installs the tool as `directory/bin/<name>`, with the installer of its entry in the table.

    Raises:
        AttemptError: The host does not answer, the file does not exist, or its checksum is wrong.
    """
    if isinstance(tool.installer, PulumiInstaller):
        _install_pulumi(directory, tool, progress)
    elif isinstance(tool.installer, Download):
        _download(directory, tool, tool.installer, progress)


def _install_pulumi(directory: Path, tool: Tool, progress: Progress) -> None:
    _require_answer(PULUMI_INSTALLER_URL)
    progress.note(f"{tool.name} {tool.version}: installing with {PulumiInstaller.SDK.value}")
    run(
        [sys.executable, "-c", _INSTALL, str(directory), tool.version],
        directory=directory,
        environment=os.environ,
        log=cache.log_file(tool),
        progress=progress,
        seconds=_INSTALL_SECONDS,
    )


def _download(directory: Path, tool: Tool, download: Download, progress: Progress) -> None:
    if cache.system() not in download.systems:
        msg = f"the project publishes no binary for {cache.system()}"
        raise AttemptError(msg)
    names = {"version": tool.version, "os": cache.system(), "arch": cache.architecture()}
    url = download.url.format(**names)
    _require_answer(url + download.checksum_suffix)
    progress.note(f"{tool.name} {tool.version}: downloading {url}")
    target = directory / "bin" / tool.name
    archive = directory / "download"
    try:
        expected = _open(url + download.checksum_suffix).read().decode().split()[0]
        actual = _fetch(url, archive, progress)
    except (OSError, IndexError, ValueError) as error:
        msg = f"{url}: {error}"
        raise AttemptError(msg) from error
    if actual != expected:
        msg = f"{url}: its SHA-256 is {actual}, the project publishes {expected}"
        raise AttemptError(msg)
    if download.member:
        _extract(archive, download.member.format(**names), target)
        archive.unlink()
    else:
        archive.rename(target)
    target.chmod(0o755)


def _extract(archive: Path, member: str, target: Path) -> None:
    with tarfile.open(archive) as files:
        content = files.extractfile(member)
        if content is None:
            msg = f"{archive.name} contains no file {member}"
            raise AttemptError(msg)
        target.write_bytes(content.read())


def _fetch(url: str, target: Path, progress: Progress) -> str:
    """Writes the file and returns its SHA-256."""
    digest, size = hashlib.sha256(), 0
    with _open(url) as response, target.open("wb") as file:
        while chunk := response.read(_CHUNK):
            digest.update(chunk)
            file.write(chunk)
            size += len(chunk)
            progress.update(f"{size / _CHUNK:.0f} MiB")
    return digest.hexdigest()


def _open(url: str) -> Any:
    return urllib.request.urlopen(url, timeout=_READ_SECONDS)  # noqa: S310 - the addresses are in the table of tools


def _require_answer(url: str) -> None:
    """Probes in a separate process, which can be ended: Python can't set a time-out on a name look-up."""
    host = urlsplit(url).netloc
    try:
        answer = subprocess.run(
            [sys.executable, "-c", _ASK, url, str(_ANSWER_SECONDS)],
            capture_output=True, text=True, timeout=_ANSWER_SECONDS + 1, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        msg = f"{host} does not answer within {_ANSWER_SECONDS:.0f} s"
        raise AttemptError(msg) from error
    if answer.returncode:
        reason = answer.stderr.strip().splitlines()[-1:] or ["no reason given"]
        msg = f"{host} does not answer: {reason[0]}"
        raise AttemptError(msg)

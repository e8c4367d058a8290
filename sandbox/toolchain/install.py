"""Installing a tool from a release file of its own project, verified by its committed checksum."""

import hashlib
import tarfile
import threading
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sandbox.errors import AttemptError
from sandbox.toolchain import cache
from sandbox.toolchain.process import Progress
from sandbox.toolchain.tools import Download, Tool

# Committed SHA-256 sums of release files, by address: `checksums.txt`.
#
# A checksum beside the file, on the same host, changes with the file. A committed one is reviewed, and says that it is
# still the file that was there then.

CHECKSUMS = Path(__file__).with_name("checksums.txt")
_COMMENT = "#"


def committed() -> dict[str, str]:
    """The SHA-256 of each file, in hexadecimal digits, by address."""
    lines = CHECKSUMS.read_text(encoding="utf-8").splitlines()
    pairs = [line.split() for line in lines if line and not line.startswith(_COMMENT)]
    return {url: digest for digest, url in pairs}


def write_checksums(sums: Mapping[str, str]) -> None:
    """Replace all sums; the comments stay."""
    text = CHECKSUMS.read_text(encoding="utf-8")
    comments = [line for line in text.splitlines() if line[:1] == _COMMENT]
    lines = [*comments, *(f"{digest}  {url}" for url, digest in sorted(sums.items()))]
    CHECKSUMS.write_text("\n".join(lines) + "\n", encoding="utf-8")


_ANSWER_SECONDS = 5.0
_READ_SECONDS = 30.0
_CHUNK = 1 << 20
_CPUS = {"amd64": "x64"}
"""The architecture as Pulumi names it, where Go has another name."""
RECORD = "python -m sandbox.toolchain checksums"


def install_into(directory: Path, tool: Tool, progress: Progress, *, pinned: bool = False) -> None:
    """Installs the tool as `directory/bin/<name>`, from the release file of its entry in the table.

    With `pinned`, only a committed checksum counts, and not one that the host of the file publishes.

    Raises:
        AttemptError: As `download`, or the project publishes no binary for this system.
    """
    if tool.installer is None:
        return
    if cache.system() not in tool.installer.systems:
        msg = f"the project publishes no binary for {cache.system()}"
        raise AttemptError(msg)
    url = address(tool, tool.installer, cache.system(), cache.architecture())
    archive, target = directory / "download", directory / "bin" / tool.name
    verified = download(url, sums(url, tool, tool.installer), archive, progress, pinned=pinned)
    if tool.installer.member:
        names = {"version": tool.version, "os": cache.system(), "arch": cache.architecture()}
        _extract(archive, tool.installer.member.format(**names), target, whole=tool.installer.whole)
        archive.unlink()
    else:
        archive.rename(target)
        target.chmod(0o755)
    if verified:
        cache.mark_verified(directory)


def address(tool: Tool, download: Download, system: str, architecture: str) -> str:
    """The address of a tool's release file for a platform."""
    cpu = _CPUS.get(architecture, architecture)
    return download.url.format(version=tool.version, os=system, arch=architecture, cpu=cpu)


def sums(url: str, tool: Tool, download: Download) -> str:
    """Where its project publishes the checksum of a release file."""
    return download.checksums.format(version=tool.version) or url + download.checksum_suffix


def download(
    url: str, listing: str, target: Path, progress: Progress, *, pinned: bool, seconds: float | None = None
) -> bool:
    """Fetch a file that has the committed checksum, or else the one published at `listing`; whether one is committed.

    Raises:
        AttemptError: The host does not answer within `seconds`, the file does not exist, or it has no checksum or a
            wrong one; with `pinned`, no committed one.
    """
    expected = committed().get(url)
    if expected is None and pinned:
        msg = f"{url}: no checksum of it is committed; `{RECORD}` writes {CHECKSUMS.name}"
        raise AttemptError(msg)
    _require_answer(url if expected else listing, _ANSWER_SECONDS if seconds is None else seconds)
    progress.note(f"downloading {url}")
    try:
        wanted = expected or published(url, listing)
        actual = fetch(url, target, progress)
    except (OSError, ValueError) as error:
        msg = f"{url}: {error}"
        raise AttemptError(msg) from error
    if actual != wanted:
        where = f"{CHECKSUMS.name} has" if expected else "the project publishes"
        msg = f"{url}: its SHA-256 is {actual}, {where} {wanted}"
        raise AttemptError(msg)
    return expected is not None


def published(url: str, listing: str) -> str:
    """The SHA-256 of a file, from a list that names it, or from a file that has nothing else.

    Raises:
        OSError: It can't be fetched.
        ValueError: The list has no line for the file.
    """
    content: bytes = _open(listing).read()
    name = url.rpartition("/")[2]
    for digest, *names in (line.split() for line in content.decode().splitlines() if line.strip()):
        if not names or names[0].rpartition("/")[2].lstrip("*") == name:
            return digest
    msg = f"no published checksum of {name}"
    raise ValueError(msg)


def _extract(archive: Path, member: str, target: Path, *, whole: bool) -> None:
    folder = member.rpartition("/")[0]
    with tarfile.open(archive) as files:
        names = [member]
        if whole:
            names = [one.name for one in files if one.isfile() and one.name.rpartition("/")[0] == folder]
        for name in {*names, member}:
            content = files.extractfile(name)
            if content is None:
                msg = f"{archive.name} contains no file {name}"
                raise AttemptError(msg)
            # The last part alone, so that no name leads out of the folder.
            file = target.with_name(name.rpartition("/")[2]) if name != member else target
            file.write_bytes(content.read())
            file.chmod(0o755)


def fetch(url: str, target: Path, progress: Progress) -> str:
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


def _require_answer(url: str, seconds: float) -> None:
    """Asks in a thread, which may stay behind: Python can't set a time-out on a name look-up."""
    answers: list[str] = []

    def ask() -> None:
        try:
            urllib.request.urlopen(url, timeout=seconds).close()  # noqa: S310 - as above
            answers.append("")
        except (OSError, ValueError, HTTPException) as error:
            answers.append(f": {error}")

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds + 1)
    if answers != [""]:
        msg = f"{urlsplit(url).netloc} does not answer{answers[0] if answers else f' within {seconds:.0f} s'}"
        raise AttemptError(msg)

"""Saved worlds of a sandbox, `worlds/NAME.tar.gz` in its home: AWS, clusters, stack states and notes, in one file each.

A world has pickles, which are code, and keys. So it is read only from the sandbox's own home, and only if the file
belongs to this user and nobody else can read or write it. It is used only by what it was made with: other versions may
understand its objects in another way.
"""

import hashlib
import io
import json
import os
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import psutil

from sandbox import toolchain
from sandbox.errors import SandboxError
from sandbox.state import SandboxState, tell
from sandbox.toolchain import locate
from sandbox.toolchain.tools import TOOLS

FOLDER: Final = "worlds"
MEMORY: Final = "memory.pickle"
"""What the daemon knew, which deletes the file once it has read it."""
KEPT: Final = ("etcd", "pki", "pulumi", "states", "projects", "notes.json", "ec2.json")
"""What is saved of the home. The rest follows from it, or from the command that starts the sandbox."""
ADDRESS: Final = "/slipway/worlds/"
"""Where the daemon is asked to save one; the name follows."""
_HEAD: Final = "world.json"
_FORMAT: Final = 1
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}")
_CODE: Final = ("aws", "nodes")
"""Packages whose objects are in the pickle, or which made what is in moto."""
_SECONDS: Final = 600
_LEVEL: Final = 1
"""Of compression: etcd allocates its log in zeros, 64 MB at once; higher levels take longer and gain little."""


@dataclass(frozen=True)
class World:
    """A saved world."""

    name: str  # its name
    saved: str  # when, in UTC
    made_from: Mapping[str, str]  # versions, and a digest of the account's code
    official: str | None  # as the sandbox's (`SandboxState`)
    ports: Mapping[str, int]
    """The ports of AWS and of each cluster's API server, which stack states have in their outputs."""
    bytes: int = field(default=0, compare=False)  # size of the file

    @property
    def misfits(self) -> list[str]:
        """What it was made with that is another here: `moto 5.2.4, here 5.2.5`."""
        now = made_from()
        names = sorted({*now, *self.made_from})
        return [
            f"{name} {self.made_from.get(name, 'none')}, here {now.get(name, 'none')}"
            for name in names
            if now.get(name) != self.made_from.get(name)
        ]


@cache
def made_from() -> dict[str, str]:
    """What a world of this process would be made from."""
    digest, here = hashlib.sha256(), Path(__file__).parent
    for path in sorted(each for name in _CODE for each in (here / name).rglob("*") if each.is_file()):
        if "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(here)}\0".encode() + path.read_bytes())
    return {
        **{name: _version(name) for name in ("kube-apiserver", "etcd")},
        "terraform-provider-aws": TOOLS["terraform-provider-aws"].version,
        "moto": metadata.version("moto"),
        "Python": ".".join(map(str, sys.version_info[:2])),
        "the account's code": digest.hexdigest()[:12],
    }


def _version(tool: str) -> str:
    path = toolchain.find(tool)
    return (path and locate.ask_once(path, ("--version",))) or "none"


# Saving, in the daemon.


def file_of(home: Path, name: str) -> Path:
    """The file of a world. Raises SandboxError if no world can have that name."""
    if not _NAME.fullmatch(name):
        msg = f"a world's name has lower-case letters, digits, dots and hyphens, at most 63 (given: {name!r})"
        raise SandboxError(msg)
    return home / FOLDER / f"{name}.tar.gz"


def require_idle(home: Path) -> None:
    """Raises SandboxError if an engine changes a stack: half of a change would be saved."""
    for lock in (home / "pulumi" / ".pulumi" / "locks").rglob("*.json"):
        try:
            pid = int(json.loads(lock.read_text(encoding="utf-8"))["pid"])
        except (OSError, ValueError, KeyError):
            continue
        if psutil.pid_exists(pid):
            msg = f"stack {lock.parent.name} is being changed (pid {pid}): save the sandbox when that is done"
            raise SandboxError(msg)


def write(home: Path, world: World, memory: bytes) -> int:
    """Write the file in one step; returns its size. Nothing may change the folders of the home meanwhile.

    Raises:
        SandboxError: It can't be written; an earlier world of that name is as it was.
    """
    path = file_of(home, world.name)
    head = {"format": _FORMAT, **{name: value for name, value in asdict(world).items() if name != "bytes"}}
    temporary = ""
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file, tarfile.open(fileobj=file, mode="w:gz", compresslevel=_LEVEL) as archive:
            for name, content in ((_HEAD, json.dumps(head).encode()), (MEMORY, memory)):
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(content), 0o600
                archive.addfile(entry, io.BytesIO(content))
            for name in KEPT:
                if (home / name).exists():
                    archive.add(home / name, name, filter=_needed)
        Path(temporary).replace(path)
    except (OSError, tarfile.TarError) as error:
        Path(temporary).unlink(missing_ok=True)
        msg = f"the world can't be written to {path}: {error}; an earlier one is as it was"
        raise SandboxError(msg) from error
    return path.stat().st_size


def _needed(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Without the file of zeros, 64 MB, that etcd has at hand for its next log."""
    return None if entry.name.endswith(".tmp") else entry


# Saving, listing and restoring, in the command.


def save(state: SandboxState, name: str) -> World:
    """Let the daemon save the world. Raises SandboxError with its reason if it doesn't."""
    file_of(state.home, name)
    tell(state, f"{ADDRESS}{name}", seconds=_SECONDS)
    return read(state.home, name)


def listed(home: Path) -> Iterator[World]:
    """The worlds of a home that can be read, by name."""
    for path in sorted((home / FOLDER).glob("*.tar.gz")):
        yield read(home, path.name.removesuffix(".tar.gz"))


def read(home: Path, name: str) -> World:
    """A world without its contents. Raises SandboxError if there is none, or if it isn't this user's own."""
    path = file_of(home, name)
    try:
        found = path.lstat()
        if found.st_uid != os.getuid() or found.st_mode & 0o177777 != 0o100600:
            msg = (
                f"{path} is not read: a world is code and keys, so it must be a file of this user (uid {os.getuid()}) "
                f"with mode 600; it has uid {found.st_uid} and mode {found.st_mode & 0o7777:o}"
            )
            raise SandboxError(msg)
        with tarfile.open(path) as archive:
            file: Any = archive.extractfile(_HEAD)
            document = json.load(file)
        if document.pop("format") == _FORMAT:
            return World(**document, bytes=found.st_size)
    except FileNotFoundError as error:
        names = ", ".join(sorted(each.name.removesuffix(".tar.gz") for each in path.parent.glob("*.tar.gz")))
        msg = f"there is no world {name} in {path.parent}" + (f", but {names}" if names else "")
        raise SandboxError(msg) from error
    except (OSError, tarfile.TarError, EOFError, KeyError, ValueError, TypeError) as error:
        msg = f"{path} can't be read ({error!r}): delete it, and save the sandbox again"
        raise SandboxError(msg) from error
    msg = f"{path} has another format than {_FORMAT}: delete it, and save the sandbox again"
    raise SandboxError(msg)


def unpack(home: Path, world: World) -> None:
    """Put its files into the home of a sandbox that doesn't run. Raises SandboxError."""
    path = file_of(home, world.name)
    try:
        with tarfile.open(path) as archive:
            wanted = [each for each in archive.getmembers() if each.name != _HEAD]
            archive.extractall(home, wanted, filter="tar")
    except (OSError, tarfile.TarError, EOFError) as error:
        msg = f"{path} can't be unpacked into {home}: {error}"
        raise SandboxError(msg) from error


def require_fit(world: World) -> None:
    """Raises SandboxError if anything that it was made from is another here."""
    if misfits := world.misfits:
        msg = (
            f"world {world.name}, saved {world.saved}, is not used, because it was made with {'; '.join(misfits)}. "
            f"Make it anew: `slipway up STACK --sandbox`, then `slipway sandbox save {world.name}`"
        )
        raise SandboxError(msg)


def now() -> str:
    """This moment on this machine's clock, whatever day stacks are evaluated at."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"  # noqa: TID251

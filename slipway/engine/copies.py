"""Copies of a stack's state, for backends in a folder (`file://`), where a full disk leaves a cut state.

The backend writes a state under another name, and renames that file into place even if the write has failed: gocloud's
`Bucket.WriteAll` closes its writer after an error, `Writer.Close` compares the checksum of what it was handed, not of
what was written, and the file's writer then renames (gocloud.dev v0.46.1-0.20260810195832, blob/blob.go and
blob/fileblob/fileblob.go, which pulumi v3.258.0 uses). The next save copies the cut state to `.bak`. So copies are made
here, in a folder in which the engine doesn't write: before and after each run, and during one (ADR 0110).
"""

import gzip
import hashlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sandbox.files import write_atomically
from slipway.engine import checkpoints
from slipway.engine.checkpoints import Checkpoint, CutError
from spec.errors import SlipwayError, fail
from spec.naming import PROJECT

STATES: Final = "states"
"""Folder of copies: in the sandbox's home, and beside it for other backends."""
KEPT: Final = 10
"""Copies of each stack. A state of 450 resources has 3 MB."""
_RUNNING: Final = "running"
_CUT: Final = "cut"
_REPLACED: Final = "replaced"
_ATTRIBUTES: Final = ".attrs"
_OF_BACKEND: Final = 3
"""How many of the backend's own backups of a kind are looked at, the newest first."""


@dataclass(frozen=True)
class Copies:
    """The state of a stack in a folder backend, and its copies.

    Attributes:
        backend: The backend's folder.
        stack: The stack's name.
        folder: Where copies of this stack are kept.
        recover: The command that restores one.
    """

    backend: Path
    stack: str
    folder: Path
    recover: str

    @property
    def file(self) -> Path | None:
        """The file of the state, of several the one that was written last, as the backend chooses; None if there is
        none, or if it is compressed with zstd (`PULUMI_DIY_BACKEND_ZSTD`), which can't be read here."""
        plain = self._plain
        found = [path for suffix in ("", ".gz", ".zst") if (path := plain.with_name(plain.name + suffix)).is_file()]
        newest = max(found, key=lambda path: path.stat().st_mtime_ns, default=None)
        return None if newest is None or newest.suffix == ".zst" else newest

    @property
    def _plain(self) -> Path:
        return self.backend / ".pulumi" / "stacks" / PROJECT / f"{self.stack}.json"

    def fault(self) -> str:
        """Why the state can't be read; empty if it can, or if there is none."""
        file = self.file
        if file is None:
            return ""
        try:
            checkpoints.read(file)
        except (CutError, OSError) as error:
            return f"{file}: {error}"
        attributes = _attributes(file)
        if attributes.is_file() and not attributes.stat().st_size:
            return f"{attributes}: it is empty, and the backend can't read a state with such attributes"
        return ""

    def require_readable(self) -> None:
        """Refuse to work on a state that can't be read.

        Raises:
            SlipwayError: With what is wrong, the copy that is left, and the command that restores it.
        """
        fault = self.fault()
        if not fault:
            return
        copy = self.best()
        text = f"the state of stack {self.stack} can't be read: {fault}; nothing was changed"
        if copy is None:
            fix = (
                f"there is no copy of it, in {self.folder} or among the backend's own: restore {self.file} from a "
                f"backup of that folder, or delete the stack's resources by hand"
            )
        else:
            fix = f"{self.describe(copy)}; to restore it, and to find what was made since, run `{self.recover}`"
        fail(f"{text}\n{fix}")

    def advised(self, read: Callable[[], str]) -> str:
        """What the engine reads; if it fails because the state can't be read, with the same advice.

        Raises:
            SlipwayError: It failed.
        """
        try:
            return read()
        except SlipwayError:
            self.require_readable()
            raise

    def describe(self, copy: Checkpoint) -> str:
        """Which copy it is, from when, and what it holds."""
        return f"the newest whole copy is {copy.path}, from {copy.time or 'before the first run'}, with {copy.holds}"

    def save(self, *, running: bool = False) -> Path | None:
        """Copy the state, if it is whole and not the newest copy already; None if nothing was copied.

        Raises:
            OSError: The copy can't be written.
        """
        try:
            state = None if (file := self.file) is None else checkpoints.read(file)
        except (CutError, OSError):
            return None  # a copy of a cut state would be none
        if state is None:
            return None
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        suffix = ".json" + (checkpoints.GZIP if state.path.suffix == checkpoints.GZIP else "")
        if running:
            write_atomically(target := self.folder / f"{_RUNNING}{suffix}", state.content, durable=True)
            return target
        numbered = self._numbered()
        if numbered and numbered[-1].read_bytes() == state.content:
            self._forget_running()
            return None
        # The number gives the order: the clock may be set between two copies.
        number = int(numbered[-1].name.partition("-")[0]) + 1 if numbered else 1
        target = self.folder / f"{number:06d}-{_now()}{suffix}"
        write_atomically(target, state.content, durable=True)
        for old in numbered[: max(0, len(numbered) + 1 - KEPT)]:
            old.unlink(missing_ok=True)
        self._forget_running()
        return target

    def all(self) -> dict[int, Checkpoint]:
        """The whole copies by their numbers, the oldest first."""
        found = ((int(path.name.partition("-")[0]), _whole(path)) for path in self._numbered())
        return {number: state for number, state in found if state is not None}

    def best(self) -> Checkpoint | None:
        """The newest whole state among the copies and the backend's own backups; None if there is none.

        Of our copies their order says which is the newest: the clock may have been set. Another state counts if the
        engine made it later than that one.
        """
        ours = next((state for path in reversed(self._numbered()) if (state := _whole(path)) is not None), None)
        others = [state for path in self._others() if (state := _whole(path)) is not None]
        newest = max(others, key=lambda state: state.moment, default=None)
        if ours is None or newest is None:
            return ours or newest
        return newest if newest.moment > ours.moment else ours

    def restore(self, copy: Checkpoint) -> tuple[Path | None, int]:
        """Put a copy in the place of the state, which is kept; its resources that the copy does not have become open
        operations of the new one, so that nothing is forgotten that exists.

        Returns:
            Where the state is kept now, None if there was none; and the number of those operations.

        Raises:
            SlipwayError: There is not enough space; the state is as it was.
        """
        present = self.file
        file = present or self._plain
        document, reopened = checkpoints.reopened(copy, checkpoints.rest(file))
        content = document.encode()
        kept = self.folder / f"{_CUT if self.fault() else _REPLACED}-{_now()}-{file.name}" if present else None
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.parent.mkdir(parents=True, exist_ok=True)
            if kept is not None:
                shutil.copyfile(file, kept)
            content = gzip.compress(content) if file.suffix == checkpoints.GZIP else content
            write_atomically(file, content, file.stat().st_mode & 0o777 if present else 0o600, durable=True)
            _attributes(file).unlink(missing_ok=True)
        except OSError as error:
            free = shutil.disk_usage(self.backend).free >> 10
            fail(
                f"the copy can't be restored to {file}: {error.strerror}; it has {len(content) >> 10} KiB, and {free} "
                f"KiB are free: free some space, then run `{self.recover}` again. The state is as it was",
                error,
            )
        return kept, reopened

    def _forget_running(self) -> None:
        for path in self.folder.glob(f"{_RUNNING}.json*"):
            path.unlink(missing_ok=True)

    def _numbered(self) -> list[Path]:
        return sorted(self.folder.glob("[0-9]*-*.json*"))

    def _others(self) -> Iterator[Path]:
        yield from self.folder.glob(f"{_RUNNING}.json*")
        bookkeeping = self.backend / ".pulumi"
        yield from (bookkeeping / "stacks" / PROJECT).glob(f"{self.stack}.json*.bak")
        # Copies that the engine makes before each update, and after it (v3.258.0, pkg/backend/diy/state.go).
        for folder, pattern in (("backups", "*.json*"), ("history", "*.checkpoint.json*")):
            found = (bookkeeping / folder / PROJECT / self.stack).glob(pattern)
            yield from sorted((path for path in found if path.suffix != _ATTRIBUTES), reverse=True)[:_OF_BACKEND]


def folder_of(states: Path, backend: Path) -> Path:
    """The folder of copies of a backend: its name, and a part of a hash of its path, as two may have one name."""
    return states / f"{backend.name or 'root'}-{hashlib.sha256(str(backend).encode()).hexdigest()[:8]}"


def _whole(path: Path) -> Checkpoint | None:
    try:
        return checkpoints.read(path)
    except (CutError, OSError):
        return None


def _attributes(file: Path) -> Path:
    """The file of attributes that the backend keeps unless it is opened with `?metadata=skip`."""
    return file.with_name(f"{file.name}{_ATTRIBUTES}")


def _now() -> str:
    # The moment on this machine's clock, whatever day stacks are evaluated at (SLIPWAY_TODAY).
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"  # noqa: TID251

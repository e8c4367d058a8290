"""The file in which a folder backend (`file://`) keeps a stack's state, and what the engine keeps of earlier ones.

A full disk may leave a cut state: the backend writes it under another name, and renames that file into place even if
the write has failed (ADR 0110). `guard` keeps that from happening.

The content is `{"version": 3, "checkpoint": {"latest": ...}}`, `latest` being the `deployment` of `pulumi stack export`
(pulumi v3.258.0, sdk/go/common/apitype/core.go, VersionedCheckpoint).
"""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from spec.errors import SlipwayError, fail
from spec.naming import PROJECT

_MAGIC: Final = b"\x1f\x8b"
_ATTRIBUTES: Final = ".attrs"


class CutError(ValueError):
    """A file that is not a whole state. The text says what is wrong with it."""


def read(path: Path) -> Mapping[str, Any]:
    """The deployment in a file, empty for a stack that was never updated. Raises CutError if it is no whole state."""
    content = path.read_bytes()
    try:
        document = json.loads(gzip.decompress(content) if content.startswith(_MAGIC) else content)
        latest: Mapping[str, Any] = document["checkpoint"].get("latest") or {}
        whole = "version" in document and all("urn" in one for one in latest.get("resources") or [])
    except (ValueError, EOFError, OSError, zlib.error) as error:
        msg = f"it is cut or damaged after {len(content)} bytes ({error})" if content else "it is empty"
        raise CutError(msg) from error
    except (TypeError, KeyError, AttributeError):
        whole = False
    if not whole:
        msg = "it is JSON, but not a stack's state"
        raise CutError(msg)
    return latest


@dataclass(frozen=True)
class StoredState:
    """The state of a stack in a folder backend."""

    backend: Path
    stack: str

    @property
    def file(self) -> Path | None:
        """The file of the state, of several the one that was written last, as the backend chooses; None if there is
        none, or if it is compressed with zstd (`PULUMI_DIY_BACKEND_ZSTD`), which can't be read here."""
        folder = self.backend / ".pulumi" / "stacks" / PROJECT
        found = [path for suffix in ("", ".gz", ".zst") if (path := folder / f"{self.stack}.json{suffix}").is_file()]
        newest = max(found, key=lambda path: path.stat().st_mtime_ns, default=None)
        return None if newest is None or newest.suffix == ".zst" else newest

    @property
    def resources(self) -> int:
        """The number of its resources."""
        return 0 if self.file is None else len(read(self.file).get("resources") or ())

    def require_readable(self) -> None:
        """Refuse to work on a state that can't be read, with what is wrong, and the backup that is left."""
        file = self.file
        if file is None:
            return
        try:
            read(file)
            attributes = file.with_name(f"{file.name}{_ATTRIBUTES}")
            if not attributes.is_file() or attributes.stat().st_size:
                return
            fault, fix = f"{attributes}: it is empty, and the backend can't read a state with it", "remove that file"
        except (CutError, OSError) as error:
            fault, fix = f"{file}: {error}", self._fix(file)
        fail(f"the state of stack {self.stack} can't be read: {fault}; nothing was changed\n{fix}")

    def advised(self, call: Callable[[], str]) -> str:
        """What the engine reads; if it fails because the state can't be read, with the same advice."""
        try:
            return call()
        except SlipwayError:
            self.require_readable()
            raise

    def before(self) -> Mapping[str, Any]:
        """The deployment after the last run that came to its end, in success or failure; empty if none did."""
        return next((latest for _, latest in self._history()), {})

    def _fix(self, file: Path) -> str:
        path, latest = next(self._history(), (None, {}))
        if path is None:
            return f"the backend has no whole copy of it: restore {file} from a backup of that folder"
        return (
            f"copy {path} over it, which the engine made at the end of the run before, with "
            f"{len(latest.get('resources') or ())} resources (if the disk is full, free some space first); then "
            f"`slipway state repair {self.stack}`, with --sandbox if it is there, looks for what was made since"
        )

    def _history(self) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Whole states among those that the engine keeps when a run ends (v3.258.0, pkg/backend/diy/state.go,
        `addToHistory`), the newest first."""
        place = self.backend / ".pulumi" / "history" / PROJECT / self.stack
        for path in sorted(place.glob("*.checkpoint.json*"), reverse=True):
            try:
                yield path, read(path)
            except (CutError, OSError):
                continue

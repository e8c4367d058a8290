"""What each controller does, in a file of the sandbox's home: the command is another process than the daemon."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from slipway.files import write_atomically

FILE: Final = "controllers.json"


class State(StrEnum):
    """What a controller does."""

    BUILDING = "is being built"
    STARTING = "starts"
    RUNNING = "runs"
    FAILING = "fails"
    """It ended, or was never ready, and is started again."""
    MISSING = "can't be built"
    OTHER_VERSION = "has another version"
    """The stack installs a version that this release of Slipway has no build for."""


@dataclass(frozen=True)
class Entry:
    """One controller of one cluster: `detail` is the reason of a state that is not `RUNNING`, `log` its log."""

    slot: str
    name: str
    version: str
    state: State
    detail: str = ""
    log: str = ""

    @property
    def text(self) -> str:
        """`kueue 0.19.2 is being built: 412 packages`."""
        return f"{self.name} {self.version} {self.state}" + (f": {self.detail}" if self.detail else "")


class Report:
    """The entries. Thread-safe."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE
        self._entries: dict[tuple[str, str], Entry] = {}
        self._lock = threading.Lock()

    def set(self, entry: Entry) -> None:
        """Add or replace the entry of a controller."""
        with self._lock:
            if self._entries.get((entry.slot, entry.name)) != entry:
                self._entries[entry.slot, entry.name] = entry
                self._save()

    def clear(self, slot: str, name: str) -> None:
        """Remove it."""
        with self._lock:
            if self._entries.pop((slot, name), None) is not None:
                self._save()

    def get(self, slot: str, name: str) -> Entry | None:
        """The entry of a controller."""
        with self._lock:
            return self._entries.get((slot, name))

    def _save(self) -> None:
        entries = [asdict(each) for _, each in sorted(self._entries.items())]
        # Without its home a sandbox ends, and its controllers with it.
        with suppress(FileNotFoundError):
            write_atomically(self._path, json.dumps(entries, indent=1))


def load(home: Path) -> tuple[Entry, ...]:
    """The entries of a sandbox; none if the file is missing or can't be read."""
    try:
        document = json.loads((home / FILE).read_text(encoding="utf-8"))
        return tuple(Entry(**{**each, "state": State(each["state"])}) for each in document)
    except (OSError, ValueError, KeyError, TypeError):
        return ()

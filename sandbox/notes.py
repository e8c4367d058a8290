"""Where the sandbox differs from AWS, noted by resource, so that the command can list it.

The notes are in a file in the sandbox's home, because the command is another process than the daemon that writes them.
"""

import json
import threading
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from sandbox.files import write_atomically

FILE = "notes.json"
BECAUSE = ", because "
"""In the text of a release that is not installed, before the reason."""


class NoteKind(StrEnum):
    """What happened to a resource."""

    INSTALLED = "installed"
    """A Helm release that Helm installed, hooks and waits included."""
    CHECKED = "checked"
    """A Helm release whose values were checked against its chart, and whose CRDs were applied."""
    RECORDED = "recorded"
    """A resource that exists only in the state."""
    SIMULATED = "simulated"
    """What the sandbox did for a chart's hook Jobs and controllers, and hook Jobs that had no effect."""
    STAND_IN = "stand-in"
    """A custom resource whose CRD is missing: a permissive CRD takes its place."""
    LEFT_OUT = "left out"
    """Webhooks and aggregated APIs whose server does not run, which are therefore not applied."""
    DRIFTED = "drifted"
    """A release whose workloads were scaled or deleted by hand, which no `up` repairs: its inputs are the same."""
    MADE_UP = "made up"
    """A data source of objects that are only recorded: its answer has made-up texts. The note names the function, and
    counts its calls."""
    IN_STATE = "in the state"
    """What of an AWS resource exists in the state alone: properties that the provider does not have yet, or all of it,
    because the account does not answer the operation."""
    NOT_VALIDATED = "not validated"
    """A manifest, or a part of one, that no API server can validate in the preview."""


@dataclass(frozen=True)
class Note:
    """One note about a resource."""

    urn: str
    kind: NoteKind
    text: str


class Notes:
    """The notes, at most one of each kind per resource."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE
        # Those of a sandbox that is restored; a new one finds none.
        self._notes = {(note.urn, note.kind): note for note in load_notes(home)}
        self._lock = threading.Lock()

    def set(self, note: Note) -> None:
        """Add a note, or replace the one of the same kind; without a text, remove that."""
        if not note.text:
            self.clear(note.urn, note.kind)
            return
        with self._lock:
            if self._notes.get((note.urn, note.kind)) != note:
                self._notes[note.urn, note.kind] = note
                self._save()

    def clear(self, urn: str, *kinds: NoteKind) -> None:
        """Remove the notes of these kinds about a resource; of all kinds if none is named."""
        with self._lock:
            cleared = [key for key in self._notes if key[0] == urn and (not kinds or key[1] in kinds)]
            for key in cleared:
                del self._notes[key]
            if cleared:
                self._save()

    def get(self, urn: str, kind: NoteKind) -> str | None:
        """The text of a note; None if there is none."""
        with self._lock:
            found = self._notes.get((urn, kind))
        return found.text if found is not None else None

    def all(self) -> tuple[Note, ...]:
        """All notes, sorted by resource."""
        with self._lock:
            return tuple(sorted(self._notes.values(), key=lambda note: (note.urn, note.kind)))

    def _save(self) -> None:
        write_atomically(self._path, json.dumps([asdict(note) for note in self._notes.values()], indent=1))


def load_notes(home: Path) -> tuple[Note, ...]:
    """The notes of a sandbox; none if the file is missing or can't be read."""
    try:
        document = json.loads((home / FILE).read_text(encoding="utf-8"))
        notes = [Note(each["urn"], NoteKind(each["kind"]), each["text"]) for each in document]
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    return tuple(sorted(notes, key=lambda note: (note.urn, note.kind)))

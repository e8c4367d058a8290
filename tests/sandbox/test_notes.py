from pathlib import Path

import pytest

from sandbox.notes import FILE, Note, NoteKind, Notes, load_notes

QUEUE = Note("urn::queue", NoteKind.RECORDED, "not available")


def test_another_process_reads_the_notes(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.set(QUEUE)
    notes.set(Note("urn::a", NoteKind.STAND_IN, "x"))
    assert load_notes(tmp_path) == notes.all() == (Note("urn::a", NoteKind.STAND_IN, "x"), QUEUE)


def test_a_later_note_of_the_same_kind_replaces_the_first(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.set(QUEUE)
    notes.set(Note("urn::queue", NoteKind.RECORDED, "still not available"))
    assert [note.text for note in notes.all()] == ["still not available"]


def test_notes_are_cleared_by_kind_or_together(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    for kind in (NoteKind.RECORDED, NoteKind.STAND_IN, NoteKind.NOT_VALIDATED):
        notes.set(Note("urn::queue", kind, "x"))
    notes.clear("urn::other")
    notes.clear("urn::queue", NoteKind.STAND_IN)
    assert [note.kind for note in load_notes(tmp_path)] == [NoteKind.NOT_VALIDATED, NoteKind.RECORDED]
    notes.clear("urn::queue")
    assert load_notes(tmp_path) == ()


@pytest.mark.parametrize("text", [None, "{", "{}", '[{"urn": "x"}]', '[{"urn": "x", "kind": "y", "text": "z"}]'])
def test_an_unreadable_file_has_no_notes(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / FILE).write_text(text)
    assert load_notes(tmp_path) == ()

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.files import write_atomically
from sandbox.identity import ProcessIdentity
from sandbox.notes import FILE, Note, NoteKind, Notes, load_notes
from sandbox.state import STATE_FILE, SandboxState, default_home, is_alive, load, load_children, save, save_children


@pytest.fixture
def state(tmp_path: Path) -> SandboxState:
    return SandboxState(
        home=tmp_path,
        daemon=ProcessIdentity.of("daemon", os.getpid()),
        aws_endpoint="http://127.0.0.1:1",
        aws_provider_port=2,
        kubernetes_provider_port=3,
        clusters={"dev": "https://127.0.0.1:4", "prod": "https://127.0.0.1:5"},
        versions={"moto": "5.2.5"},
        in_moto=["aws:ec2/vpc:Vpc"],
    )


@pytest.mark.parametrize(("variables", "expected"), [
    ({"SLIPWAY_SANDBOX_HOME": "/a/b"}, "/a/b"),
    ({"SLIPWAY_SANDBOX_HOME": "", "XDG_STATE_HOME": "/x"}, "/x/slipway/sandbox"),
    ({"SLIPWAY_SANDBOX_HOME": "", "XDG_STATE_HOME": "", "HOME": "/me"}, "/me/.local/state/slipway/sandbox"),
])  # fmt: skip
def test_the_home_directory_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert default_home() == Path(expected)


def test_a_state_is_read_back_unchanged(state: SandboxState) -> None:
    save(state)
    assert load(state.home) == state
    assert list((load(state.home) or state).clusters) == ["dev", "prod"]


def test_only_the_owner_may_read_the_file(state: SandboxState) -> None:
    save(state)
    assert stat.S_IMODE((state.home / STATE_FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99}', '{"format": 1, "home": "/x"}', '{"format": 1}'])
def test_an_invalid_state_file_counts_as_missing(tmp_path: Path, text: str) -> None:
    (tmp_path / STATE_FILE).write_text(text)
    assert load(tmp_path) is None


def test_a_state_with_an_unknown_field_counts_as_missing(state: SandboxState) -> None:
    save(state)
    path = state.home / STATE_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "more": 1}))
    assert load(state.home) is None


def test_alive_requires_the_same_process(state: SandboxState) -> None:
    assert is_alive(state)
    assert not is_alive(replace(state, daemon=replace(state.daemon, started=1)))


def test_children_are_read_back_unchanged(tmp_path: Path) -> None:
    children = (ProcessIdentity("etcd", 1, "boot", 2), ProcessIdentity("api", 3, "boot", 4))
    save_children(tmp_path, children)
    assert load_children(tmp_path) == children


@pytest.mark.parametrize("text", [None, "{", '[{"pid": 1}]', "null"])
def test_without_a_readable_file_there_are_no_children(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "children.json").write_text(text)
    assert load_children(tmp_path) == ()


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


def test_a_file_is_replaced_as_a_whole_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old and longer")
    write_atomically(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_program_can_be_run_by_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, "new", mode=0o755)
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]

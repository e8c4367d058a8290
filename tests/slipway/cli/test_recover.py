"""`slipway state repair` and `slipway state`, with a backend in a folder and a CLI that records its calls."""

import json
from pathlib import Path
from typing import Any

import pytest

from slipway.cli import recover
from slipway.cli import state as command
from slipway.engine.stacks import Lock
from spec.errors import EXIT_REFUSED
from tests.slipway.conftest import Slipway
from tests.slipway.engine import states
from tests.slipway.engine.fake import FakePulumi

pytestmark = pytest.mark.usefixtures("checkout", "user", "fake")


def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway, *counts: int) -> Path:
    """The state of stack dev with the last of so many resources; a copy was made of each."""
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path / 'backend'}")
    monkeypatch.setenv("SLIPWAY_SANDBOX_HOME", str(tmp_path / "own/sandbox"))
    path = states.file(tmp_path / "backend")
    for second, count in enumerate(counts):
        path.write_text(states.checkpoint(states.things(count), second))
        slipway("refresh dev --yes")
    return path


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway) -> Path:
    return copied(tmp_path, monkeypatch, slipway, 3)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway) -> Path:
    """A state with a resource more than its first copy."""
    return copied(tmp_path, monkeypatch, slipway, 2, 3)


def commands(fake: FakePulumi) -> list[str]:
    return [" ".join(call["arguments"][:2]) for call in fake.calls]


def answer(monkeypatch: pytest.MonkeyPatch, module: Any, *, yes: bool) -> None:
    monkeypatch.setattr(module, "can_ask", lambda: True)
    monkeypatch.setattr(module, "ask", lambda _: yes)


def test_a_cut_state_is_restored_after_confirmation(
    state: Path, fake: FakePulumi, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    whole = state.read_text()
    state.write_text(whole[:900])
    before = len(fake.calls)
    slipway("state repair dev", code=EXIT_REFUSED)
    assert state.read_text() == whole[:900]
    answer(monkeypatch, recover, yes=False)
    assert "nothing was changed" in slipway("state repair dev", code=EXIT_REFUSED).err
    assert state.read_text() == whole[:900]
    assert len(fake.calls) == before
    answer(monkeypatch, recover, yes=True)
    said = slipway("state repair dev").err
    assert "t2" in state.read_text()
    # Read, imported with what was found, refreshed, and read again for the report.
    assert commands(fake)[before:] == ["stack export", "stack import", "refresh --stack", "stack export"]
    assert "with 4 resources" in said
    assert "the cut state is kept in " in said


def test_a_whole_state_has_nothing_to_recover(state: Path, slipway: Slipway) -> None:
    assert "there is nothing to recover" in slipway("state repair dev --yes").err


def test_what_a_failed_run_made_is_adopted_without_an_open_operation(
    state: Path, fake: FakePulumi, slipway: Slipway
) -> None:
    """The reply to a call was lost: AWS has the object, and neither the state nor an operation knows it."""
    there, lost = states.things(2)[1:]
    fake.tell("export", json.dumps({"version": 3, "deployment": {"resources": states.things(1)}}))
    steps = [{"op": "same", "newState": there}, {"op": "create", "newState": {**lost, "id": "", "inputs": {"a": "b"}}}]
    fake.tell("says", json.dumps({"steps": steps}))
    before = len(fake.calls)
    said = slipway("state repair dev --yes --adopt", f"{lost['urn']}=id-1").err
    wanted = ["stack export", "preview --stack", "stack import", "refresh --stack", "stack export"]
    assert commands(fake)[before:] == wanted
    assert "1 operations open, left by a run that failed" in said
    assert "id-1" in said
    assert "nothing that it lacks was found" in slipway("state repair dev --yes").err
    refused = slipway("state repair dev --yes --adopt", f"{there['urn']}=id-1", code=EXIT_REFUSED).err
    assert "nothing that could be adopted has this URN: it is in the state already" in refused


# Copies are listed, and one of them takes the place of a state that is whole.


def latest(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())["checkpoint"]["latest"])


def resources(path: Path) -> list[str]:
    return [each["urn"].rpartition("::")[2] for each in latest(path)["resources"]]


def test_copies_are_listed_with_what_they_hold(file: Path, slipway: Slipway) -> None:
    found = json.loads(slipway("state list dev --json").out)
    assert [(one["number"], one["holds"]) for one in found] == [(1, "3 resources"), (2, "4 resources")]
    assert "4 resources" in slipway("state list dev").out


def test_the_newest_other_copy_is_restored_and_nothing_is_forgotten(
    file: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    before = file.read_text()
    slipway("state restore dev", code=EXIT_REFUSED)
    answer(monkeypatch, command, yes=False)
    slipway("state restore dev", code=EXIT_REFUSED)
    assert file.read_text() == before
    answer(monkeypatch, command, yes=True)
    said = slipway("state restore dev").err
    assert resources(file) == ["slipway-dev", "t0", "t1"]
    opened = [each["resource"]["id"] for each in latest(file)["pending_operations"]]
    assert opened == ["id-2"], "it exists, so `recover` looks for it"
    assert "with 3 resources; the state now: 4 resources" in said
    assert "`slipway state repair dev` looks for them" in said
    (kept,) = (file.parents[4] / "own/states").rglob("replaced-*")
    assert kept.read_text() == before


def test_a_copy_is_named_by_its_number_or_its_file(file: Path, tmp_path: Path, slipway: Slipway) -> None:
    slipway("state restore dev --yes --copy 1")
    assert resources(file) == ["slipway-dev", "t0", "t1"]
    other = tmp_path / "aside.json"
    other.write_text(states.checkpoint(states.things(1), 5))
    slipway("state restore dev --yes --copy", other)
    assert resources(file) == ["slipway-dev", "t0"]
    for wrong in ("9", tmp_path / "absent", tmp_path):
        slipway("state restore dev --yes --copy", wrong, code=EXIT_REFUSED)


def test_a_state_that_was_removed_comes_back(file: Path, slipway: Slipway) -> None:
    file.unlink()
    slipway("state restore dev --yes")
    assert resources(file) == ["slipway-dev", "t0", "t1", "t2"]


def test_nothing_is_restored_below_a_run(file: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway) -> None:
    lock = file.parents[2] / "locks/organization/slipway/dev/one.json"
    lock.parent.mkdir(parents=True)
    lock.write_text(json.dumps({"pid": 1, "hostname": "elsewhere", "timestamp": "2026-11-23T10:00:00Z"}))
    before = file.read_text()
    assert "in use by another run" in slipway("state restore dev --yes --copy 1", code=1).err
    monkeypatch.setattr(Lock, "owner_lives", property(lambda _: False))
    assert file.read_text() == before
    slipway("state restore dev --yes --copy 1")


def test_a_backend_without_copies_is_named(file: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://states")
    assert "is in s3://states, and copies are made of those in a folder" in slipway("state list dev", code=1).err

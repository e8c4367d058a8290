"""`slipway recover` on a state that can't be read, with a backend in a folder and a CLI that records its calls."""

import json
from pathlib import Path

import pytest

from slipway.cli import main, recover
from spec.errors import EXIT_REFUSED
from tests.slipway.conftest import Slipway
from tests.slipway.engine import states
from tests.slipway.engine.fake import FakePulumi

pytestmark = pytest.mark.usefixtures("checkout", "user")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state of stack dev, of which a copy was made."""
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path / 'backend'}")
    monkeypatch.setenv("SLIPWAY_SANDBOX_HOME", str(tmp_path / "own/sandbox"))
    path = states.file(tmp_path / "backend")
    path.write_text(states.checkpoint(states.things(3)))
    assert main(["refresh", "dev", "--yes"]) == 0
    return path


def commands(fake: FakePulumi) -> list[list[str]]:
    return [call["arguments"][:2] for call in fake.calls]


def test_a_cut_state_is_restored_after_confirmation(
    state: Path, fake: FakePulumi, monkeypatch: pytest.MonkeyPatch, slipway: Slipway, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = state.read_text()
    state.write_text(whole[:900])
    before = len(fake.calls)
    assert main(["recover", "dev"]) == EXIT_REFUSED
    assert state.read_text() == whole[:900]
    monkeypatch.setattr(recover, "can_ask", lambda: True)
    monkeypatch.setattr(recover, "ask", lambda _: False)
    assert "nothing was changed" in slipway("recover dev", code=EXIT_REFUSED).err
    assert state.read_text() == whole[:900]
    assert len(fake.calls) == before
    monkeypatch.setattr(recover, "ask", lambda _: True)
    assert main(["recover", "dev"]) == 0
    assert "t2" in state.read_text()
    # Read, imported with what was found, refreshed, and read again for the report.
    assert commands(fake)[before:] == [
        ["stack", "export"],
        ["stack", "import"],
        ["refresh", "--stack"],
        ["stack", "export"],
    ]
    said = capsys.readouterr().err
    assert "with 4 resources" in said
    assert "the cut state is kept in " in said


def test_without_a_copy_nothing_is_restored(state: Path, fake: FakePulumi, tmp_path: Path, slipway: Slipway) -> None:
    for copy in (tmp_path / "own/states").rglob("0*.json"):
        copy.unlink()
    state.write_text("")
    assert "there is no copy of it" in slipway("recover dev --yes", code=1).err


def test_a_whole_state_has_nothing_to_recover(state: Path, fake: FakePulumi, slipway: Slipway) -> None:
    assert "there is nothing to recover" in slipway("recover dev --yes").err


def test_what_a_failed_run_made_is_adopted_without_an_open_operation(
    state: Path, fake: FakePulumi, slipway: Slipway, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reply to a call was lost: AWS has the object, and neither the state nor an operation knows it."""
    there, lost = states.things(2)[1:]
    fake.tell("export", json.dumps({"version": 3, "deployment": {"resources": states.things(1)}}))
    steps = [{"op": "same", "newState": there}, {"op": "create", "newState": {**lost, "id": "", "inputs": {"a": "b"}}}]
    fake.tell("says", json.dumps({"steps": steps}))
    before = len(fake.calls)
    assert main(["recover", "dev", "--yes", "--adopt", f"{lost['urn']}=id-1"]) == 0
    assert commands(fake)[before:] == [
        ["stack", "export"],
        ["preview", "--stack"],
        ["stack", "import"],
        ["refresh", "--stack"],
        ["stack", "export"],
    ]
    said = capsys.readouterr().err
    assert "1 operations open, left by a run that failed" in said
    assert "id-1" in said
    assert "nothing that it lacks was found" in slipway("recover dev --yes").err
    assert (
        "nothing that could be adopted has this URN: it is in the state already"
        in slipway("recover dev --yes --adopt", f"{there['urn']}=id-1", code=EXIT_REFUSED).err
    )

"""`slipway state repair`, with a backend in a folder and a CLI that records its calls."""

import json
from pathlib import Path

import pytest

from sandbox.state import WIPED
from slipway.cli import recover
from spec.errors import EXIT_REFUSED
from tests.slipway.conftest import Slipway
from tests.slipway.engine import states
from tests.slipway.engine.fake import FakePulumi

pytestmark = pytest.mark.usefixtures("checkout", "user", "fake")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path / 'backend'}")
    monkeypatch.setenv("SLIPWAY_SANDBOX_HOME", str(tmp_path / "own/sandbox"))
    path = states.file(tmp_path / "backend")
    path.write_text(states.checkpoint(states.things(3)))
    return path


def commands(fake: FakePulumi) -> list[str]:
    return [" ".join(call["arguments"][:2]) for call in fake.calls]


def test_a_cut_state_is_refused(state: Path, fake: FakePulumi, slipway: Slipway) -> None:
    state.write_text(state.read_text()[:900])
    assert "can't be read" in slipway("state repair dev --yes", code=1).err
    assert fake.calls == []


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


def test_the_states_of_a_sandbox_go_with_it() -> None:
    """Otherwise a state that describes a deleted sandbox could be imported into the next one."""
    assert recover.STATES in WIPED

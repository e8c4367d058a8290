"""`slipway state`: copies are listed, and one of them takes the place of a state that is whole."""

import json
from pathlib import Path

import pytest

from slipway.cli import main, state
from slipway.engine.stacks import Lock
from spec.errors import EXIT_REFUSED
from tests.slipway.conftest import Slipway
from tests.slipway.engine import states

pytestmark = pytest.mark.usefixtures("checkout", "user", "fake")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state of stack dev, of which two copies were made, with 3 and with 4 resources; it has the latter."""
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path / 'backend'}")
    monkeypatch.setenv("SLIPWAY_SANDBOX_HOME", str(tmp_path / "own/sandbox"))
    path = states.file(tmp_path / "backend")
    for second, count in enumerate((2, 3)):
        path.write_text(states.checkpoint(states.things(count), second))
        assert main(["refresh", "dev", "--yes"]) == 0
    return path


def resources(path: Path) -> list[str]:
    latest = json.loads(path.read_text())["checkpoint"]["latest"]
    return [each["urn"].rpartition("::")[2] for each in latest["resources"]]


def opened(path: Path) -> list[str]:
    latest = json.loads(path.read_text())["checkpoint"]["latest"]
    return [each["resource"]["id"] for each in latest.get("pending_operations") or ()]


def test_copies_are_listed_with_what_they_hold(
    file: Path, slipway: Slipway, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    found = json.loads(slipway("state list dev --json").out)
    assert [(one["number"], one["holds"]) for one in found] == [(1, "3 resources"), (2, "4 resources")]
    assert "4 resources" in slipway("state list dev").out


def test_the_newest_other_copy_is_restored_and_nothing_is_forgotten(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_text()
    assert main(["state", "restore", "dev"]) == EXIT_REFUSED
    monkeypatch.setattr(state, "can_ask", lambda: True)
    monkeypatch.setattr(state, "ask", lambda _: False)
    assert main(["state", "restore", "dev"]) == EXIT_REFUSED
    assert file.read_text() == before
    monkeypatch.setattr(state, "ask", lambda _: True)
    assert main(["state", "restore", "dev"]) == 0
    assert resources(file) == ["slipway-dev", "t0", "t1"]
    assert opened(file) == ["id-2"], "it exists, so `recover` looks for it"
    said = capsys.readouterr().err
    assert "with 3 resources; the state now: 4 resources" in said
    assert "`slipway recover dev` looks for them" in said
    (kept,) = (file.parents[4] / "own/states").rglob("replaced-*")
    assert kept.read_text() == before


def test_a_copy_is_named_by_its_number_or_its_file(file: Path, tmp_path: Path) -> None:
    assert main(["state", "restore", "dev", "--yes", "--copy", "1"]) == 0
    assert resources(file) == ["slipway-dev", "t0", "t1"]
    other = tmp_path / "aside.json"
    other.write_text(states.checkpoint(states.things(1), 5))
    assert main(["state", "restore", "dev", "--yes", "--copy", str(other)]) == 0
    assert resources(file) == ["slipway-dev", "t0"]
    for wrong in ("9", str(tmp_path / "absent"), str(tmp_path)):
        assert main(["state", "restore", "dev", "--yes", "--copy", wrong]) == EXIT_REFUSED


def test_a_state_that_was_removed_comes_back(file: Path) -> None:
    file.unlink()
    assert main(["state", "restore", "dev", "--yes"]) == 0
    assert resources(file) == ["slipway-dev", "t0", "t1", "t2"]


def test_nothing_is_restored_below_a_run(file: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway) -> None:
    lock = file.parents[2] / "locks/organization/slipway/dev/one.json"
    lock.parent.mkdir(parents=True)
    lock.write_text(json.dumps({"pid": 1, "hostname": "elsewhere", "timestamp": "2026-11-23T10:00:00Z"}))
    before = file.read_text()
    assert "in use by another run" in slipway("state restore dev --yes --copy 1", code=1).err
    monkeypatch.setattr(Lock, "owner_lives", property(lambda _: False))
    assert file.read_text() == before
    assert main(["state", "restore", "dev", "--yes", "--copy", "1"]) == 0


def test_a_backend_without_copies_is_named(file: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://states")
    assert "is in s3://states, and copies are made of those in a folder" in slipway("state list dev", code=1).err

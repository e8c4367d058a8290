"""`slipway replay`, from the command line to its files; with recorded events in place of the engine."""

import json
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

from slipway.cli import main
from slipway.replay import engine
from slipway.replay.readers import READERS, read
from tests.slipway.conftest import Slipway, choices
from tests.slipway.replay.examples import TRACE, events

SIGNAL = {
    "t": 211, "kind": "summary", "cut": True, "reason": "signal", "wallSeconds": 1.0,
    "jobs": {"submitted": 2, "finished": 0, "running": 2, "pending": 1, "refused": 0}, "cycles": 1, "evictions": 0,
}  # fmt: skip


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.csv"
    path.write_text(TRACE)
    return path


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, Any]]:
    """The inputs that the engine was given."""
    given: list[Mapping[str, Any]] = []

    def run(document: Mapping[str, Any], *, say: Callable[[str], None]) -> Generator[dict[str, Any]]:
        given.append(document)
        say("day 0.1")
        yield from events()

    monkeypatch.setattr(engine, "run", run)
    return given


def test_a_trace_becomes_a_summary_a_page_and_a_result(
    trace: Path, recorded: list[Mapping[str, Any]], tmp_path: Path, slipway: Slipway, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert (
        "5 jobs of jobs.csv (csv) on stack dev"
        in slipway("replay dev --trace", trace, "--out", out, "--gpu-type", "B200=L4").out
    )
    assert [one["name"] for one in recorded[0]["jobs"]][-1] == "j000005", "its GPU type was translated"
    assert {one.name for one in out.iterdir()} == {"index.html", "replay.json", "trace.csv"}
    assert read(out / "trace.csv").jobs == read(trace).jobs

    again = ["replay", "dev", "--trace", str(out / "trace.csv"), "--against", str(out / "replay.json")]
    more = ["--launch-seconds", "9", "--until", "600", "--max-minutes", "2", "--checkpoint-minutes", "30"]
    assert main([*again, *more]) == 0
    assert "other" in capsys.readouterr().out
    assert [one["checkpointEvery"] for one in recorded[1]["jobs"]] == [1800, None, 1800, 1800]
    assert {one["launchSeconds"] for one in recorded[1]["pools"]} == {9}
    assert (recorded[1]["until"], recorded[1]["maxWallSeconds"]) == (600, 120)


def test_json_has_the_result(trace: Path, recorded: list[Mapping[str, Any]], slipway: Slipway) -> None:
    assert json.loads(slipway("replay dev --trace", trace, "--json").out)["waits"]["longest"] == 1831
    assert len(recorded) == 1


def test_an_interrupt_gives_what_is_known_so_far(
    trace: Path, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    def run(document: Mapping[str, Any], *, say: Callable[[str], None]) -> Generator[dict[str, Any]]:
        assert document
        say("day 0.1")
        yield from events()[:15]
        yield SIGNAL

    monkeypatch.setattr(engine, "run", run)
    shown = slipway("replay dev --trace", trace, code=130)
    assert "CUT by signal at 3 min 31 s" in shown.out
    assert "interrupted" in shown.err


def test_the_command_knows_every_format() -> None:
    assert choices("replay", "--format") == list(READERS)

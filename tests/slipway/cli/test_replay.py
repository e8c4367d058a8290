"""`slipway replay`, from the command line to its files; with recorded events in place of the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

from slipway.cli import main
from slipway.cli.replay_options import TRACES
from slipway.replay import engine
from slipway.replay.readers import READERS, read
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
    trace: Path, recorded: list[Mapping[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["replay", "dev", "--trace", str(trace), "--out", str(out), "--gpu-type", "B200=L4"]) == 0
    assert "5 jobs of jobs.csv (csv) on stack dev" in capsys.readouterr().out
    assert [one["name"] for one in recorded[0]["jobs"]][-1] == "j000005", "its GPU type was translated"
    assert {one.name for one in out.iterdir()} == {"index.html", "replay.json", "trace.csv"}
    assert read(out / "trace.csv").jobs == read(trace).jobs

    again = ["replay", "dev", "--trace", str(out / "trace.csv"), "--against", str(out / "replay.json")]
    assert main([*again, "--launch-seconds", "9", "--until", "600", "--max-minutes", "2"]) == 0
    assert "other" in capsys.readouterr().out
    assert {one["launchSeconds"] for one in recorded[1]["pools"]} == {9}
    assert (recorded[1]["until"], recorded[1]["maxWallSeconds"]) == (600, 120)


def test_json_has_the_result(
    trace: Path, recorded: list[Mapping[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "dev", "--trace", str(trace), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["waits"]["longest"] == 1831
    assert len(recorded) == 1


def test_an_interrupt_gives_what_is_known_so_far(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(document: Mapping[str, Any], *, say: Callable[[str], None]) -> Generator[dict[str, Any]]:
        assert document
        say("day 0.1")
        yield from events()[:15]
        yield SIGNAL

    monkeypatch.setattr(engine, "run", run)
    assert main(["replay", "dev", "--trace", str(trace)]) == 130
    shown = capsys.readouterr()
    assert "CUT by signal at 3 min 31 s" in shown.out
    assert "interrupted" in shown.err


def test_a_generated_trace_may_only_be_written(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    more = ["--load", "0.5", "--seed", "2", "--jobs", "200", "--days", "2", "--write-trace", str(path)]
    assert main(["replay", "dev", "--generate", *more]) == 0
    found = read(path)
    assert (len(found.jobs), found.format) == (200, "csv")
    assert found.seconds < 2 * 86_400


REFUSED = [
    (["--generate", "--format", "csv"], "--format is of a --trace"),
    (["--seed", "3"], "--seed, --jobs and --days are of a generated trace"),
    (["--load", "nan"], "a share such as 0.7 or 1.3"),
    (["--load", "0"], "a share such as 0.7 or 1.3"),
    (["--gpu-type", "V100"], "two names such as V100=A100"),
    (["--until", "0"], "a whole number from 1 to 34,560,000"),
    (["--against", "none.json"], "none.json: the file must be readable"),
    (["--format", "slurm"], "the header must have JobID"),
]


@pytest.mark.parametrize(("more", "says"), REFUSED, ids=[" ".join(more) for more, _ in REFUSED])
def test_wrong_options_are_refused(more: list[str], says: str, trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["replay", "dev", *([] if "--generate" in more else ["--trace", str(trace)]), *more]
    try:
        code = main(line)
    except SystemExit as end:
        code = int(end.code or 0)
    assert code == 2
    assert says in capsys.readouterr().err


def test_the_command_knows_every_format() -> None:
    assert list(TRACES) == list(READERS)

"""The command: what it runs and prints, and that it leaves nothing behind."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench import __main__ as command
from tests.bench import context, registry
from tests.bench.figure import Figure
from tests.bench.machine import BenchError


def good(_: context.Bench) -> list[Figure]:
    return [Figure(name="good", value=1.0, unit="s", bound=2.0, how="by hand", notes=("a note",))]


def bad(_: context.Bench) -> list[Figure]:
    return [Figure(name="bad", value=3.0, unit="s", bound=2.0, how="by hand")]


def absent(_: context.Bench) -> list[Figure]:
    return [Figure(name="absent", value=None, unit="s", bound=2.0, how="by hand", notes=("not measured: no charts",))]


def failing(_: context.Bench) -> list[Figure]:
    msg = "no binary"
    raise BenchError(msg)


def interrupted(_: context.Bench) -> list[Figure]:
    raise KeyboardInterrupt


def terminated(_: context.Bench) -> list[Figure]:
    os.kill(os.getpid(), signal.SIGTERM)
    return []


@pytest.fixture(autouse=True)
def closed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Directories of the benches that were closed."""
    found: list[Path] = []
    close = context.Bench.close

    def closing(bench: context.Bench) -> None:
        found.append(bench.directory)
        close(bench)

    monkeypatch.setattr(context.Bench, "close", closing)
    return found


def run(
    monkeypatch: pytest.MonkeyPatch, *measures: Callable[[context.Bench], list[Figure]], json: Path | None = None
) -> int:
    monkeypatch.setattr(command, "NUMBERS", {measure.__name__: measure for measure in measures})
    return command.main(["--json", str(json)] if json else [])


def test_each_number_is_printed_with_its_notes_and_again_in_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, good) == 0
    printed = capsys.readouterr().out
    assert printed.count("<= 2.00 s") == 2
    assert "    a note\n" in printed


def test_a_missed_bound_is_an_error_and_is_named_with_its_extent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, good, bad) == command.EXIT_MISSED
    assert capsys.readouterr().out.endswith("bounds held: 1, missed: 1: bad (missed by 50%)\n")


def test_a_number_that_was_not_measured_is_reported_and_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, good, absent) == command.EXIT_NOT_MEASURED
    printed = capsys.readouterr().out
    assert "    not measured: no charts\n" in printed
    assert printed.endswith("bounds held: 1, missed: 0\nnot measured: absent\n")


def test_a_missed_bound_counts_more_than_what_was_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, absent, failing, bad) == command.EXIT_MISSED


def test_a_number_that_cannot_be_measured_keeps_no_other_from_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, failing, good) == command.EXIT_NOT_MEASURED
    captured = capsys.readouterr()
    assert "failing: not measured: no binary" in captured.err
    assert "good" in captured.out
    assert captured.out.endswith("not measured: failing\n")


@pytest.mark.parametrize("end", [interrupted, terminated])
def test_an_interrupt_ends_it_cleanly(
    monkeypatch: pytest.MonkeyPatch, closed: list[Path], end: Callable[[context.Bench], list[Figure]]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert run(monkeypatch, end) == command.EXIT_INTERRUPTED
    assert [path.exists() for path in closed] == [False]
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_figures_are_written_for_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    run(monkeypatch, good, failing, json=file)
    document = json.loads(file.read_text())
    assert [figure["verdict"] for figure in document["figures"]] == ["held"]
    assert document["not measured"] == ["failing"]
    assert document["machine"]["processors"] >= 1


def test_an_unknown_name_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        command.main(["previews"])
    assert raised.value.code == 2
    assert "choose from speed, setup, refusal, render" in capsys.readouterr().err


def test_every_bound_of_the_design_has_a_number() -> None:
    assert list(registry.NUMBERS) == [
        "speed", "setup", "refusal", "render", "growth", "order", "up", "policies", "preview", "memory", "tests",
    ]  # fmt: skip

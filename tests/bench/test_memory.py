from pathlib import Path

import pytest

from sandbox.notes import Note, NoteKind
from tests.bench import charts
from tests.bench.context import Bench
from tests.bench.figure import Verdict
from tests.bench.machine import BenchError
from tests.bench.numbers import memory
from tests.bench.sandbox import Memory

MIB = 1 << 20
NOW = Memory(pss=700 * MIB, rss=900 * MIB, parts={"etcd 12": 100 * MIB, "kube-apiserver 13": 600 * MIB})


def note(name: str, kind: NoteKind) -> Note:
    return Note(f"urn:pulumi:dev::slipway::kubernetes:helm.sh/v3:Release::{name}", kind, "text")


def test_the_figure_is_the_maximum_of_coming_up_and_being_up() -> None:
    assert memory.figure("memory", 2048, "dev", 1018 * MIB, NOW).value == 1018
    assert memory.figure("memory", 2048, "dev", 500 * MIB, NOW).value == 700


def test_more_than_the_bound_is_missed() -> None:
    found = memory.figure("memory", memory.BOUND_MIB, "dev", 3840 * MIB, NOW)
    assert found.result == "missed by 50%"
    assert "etcd 100 MiB, kube-apiserver 600 MiB" in found.notes[0]


def test_without_charts_the_bounded_number_is_reported_as_not_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = Bench(tmp_path, print)
    monkeypatch.setattr(bench, "with_prod", lambda: bench.sandbox)
    monkeypatch.setattr(bench.sandbox, "memory", lambda: NOW)
    monkeypatch.setattr(charts, "directory", lambda *_: None)
    without, bounded = memory.measure(bench)
    assert (without.verdict, without.value) == (Verdict.NO_BOUND, 700)
    assert (bounded.verdict, bounded.bound) == (Verdict.NOT_MEASURED, memory.BOUND_MIB)
    assert "set SLIPWAY_CHARTS" in bounded.notes[0]


def test_a_stack_that_does_not_come_up_with_its_charts_leaves_the_other_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: str) -> str:
        msg = "`slipway up dev --sandbox` ended with code 1"
        raise BenchError(msg)

    bench = Bench(tmp_path, print)
    monkeypatch.setattr(bench, "with_prod", lambda: bench.sandbox)
    monkeypatch.setattr(bench.sandbox, "memory", lambda: NOW)
    monkeypatch.setattr(bench, "command", fail)
    monkeypatch.setattr(charts, "directory", lambda *_: tmp_path)
    without, bounded = memory.measure(bench)
    assert (without.value, bounded.verdict) == (700, Verdict.NOT_MEASURED)
    assert "ended with code 1" in bounded.notes[0]


def test_releases_are_grouped_by_what_the_sandbox_did_for_them() -> None:
    other = Note("urn:pulumi:dev::slipway::kubernetes:core/v1:Secret::s", NoteKind.RECORDED, "text")
    notes = [note("kueue", NoteKind.INSTALLED), note("keda", NoteKind.CHECKED), note("lws", NoteKind.RECORDED), other]
    assert memory.releases(notes)[NoteKind.RECORDED] == ["lws"]
    assert memory.extent(notes) == "2 releases: 1 installed, 1 with their CRDs alone"

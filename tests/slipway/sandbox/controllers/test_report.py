from __future__ import annotations

from pathlib import Path

from slipway.sandbox.controllers.report import FILE, Entry, Report, State, load

ENTRY = Entry("api-1", "kueue", "0.19.2", State.FAILING, "it ended with exit code 1", "/logs/kueue.log")


def test_entries_are_read_by_another_process(tmp_path: Path) -> None:
    report = Report(tmp_path)
    assert load(tmp_path) == ()
    report.set(ENTRY)
    report.set(Entry("api-1", "jobset", "0.12.0", State.RUNNING))
    assert [each.name for each in load(tmp_path)] == ["jobset", "kueue"]
    assert load(tmp_path)[1] == report.get("api-1", "kueue") == ENTRY
    report.clear("api-1", "kueue")
    assert [each.name for each in load(tmp_path)] == ["jobset"]


def test_a_file_that_is_not_a_list_of_entries_has_none(tmp_path: Path) -> None:
    for text in ("", "{", '[{"slot": "api-1"}]', '[{"state": "unknown"}]'):
        (tmp_path / FILE).write_text(text)
        assert load(tmp_path) == ()

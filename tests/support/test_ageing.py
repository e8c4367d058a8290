"""The summary of a test run names what has become old on the current day."""

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.suppressions import FILE
from spec import clock
from tests.support import ageing
from tests.support.day import TODAY

LATE = date(2100, 1, 1)


@dataclass
class Terminal:
    """What pytest writes to."""

    sections: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    def section(self, title: str) -> None:
        self.sections.append(title)

    def write_line(self, line: str) -> None:
        self.written.append(line)


@pytest.fixture
def summary(request: pytest.FixtureRequest) -> Any:
    """The hook of tests/conftest.py, as pytest calls it."""
    plugin = request.config.pluginmanager.get_plugin(str(Path(__file__).parents[1] / "conftest.py"))
    return plugin.pytest_terminal_summary  # type: ignore[union-attr]


def test_facts_suppressions_and_stacks_that_have_ended_are_named() -> None:
    text = "\n".join(ageing.lines(LATE))
    assert "spec/catalog/data/prices.yaml: " in text
    assert "`slipway prices refresh`" in text
    assert text.count("the suppression of ") == len(yaml.safe_load(FILE.read_text(encoding="utf-8")))
    assert "stack prod: cluster.version: EKS must support the version" in text


def test_on_the_day_of_the_tests_no_stack_and_no_suppression_has_ended() -> None:
    assert [line for line in ageing.lines(TODAY) if not line.startswith("spec/catalog/")] == []


def test_the_summary_is_that_of_the_current_day_and_not_of_the_tests(
    summary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "current", lambda: LATE)
    terminal = Terminal()
    summary(terminal)
    assert terminal.sections == ["the catalog is ageing"]
    assert terminal.written == ageing.lines(LATE)


def test_where_nothing_is_old_nothing_is_said(summary: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ageing, "lines", lambda _: [])
    terminal = Terminal()
    summary(terminal)
    assert terminal == Terminal()

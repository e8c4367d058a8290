"""The step of a scenario that updates the stack."""

import signal
import sys
from pathlib import Path

import pytest

from slipway.engine.project import Project
from slipway.trial import update
from slipway.trial.events import Events
from slipway.trial.expectations import Step
from spec.errors import SlipwayError
from tests.support.patience import wait_for


def test_an_update_begins_once_and_its_step_is_done_when_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the stack file of the change, and all else of the project."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text("config: {slipway:platform: {a: 1, b: {c: 2}}}\n", "utf-8")
    (tmp_path / "infra").write_text("the program", "utf-8")
    script = (
        "import sys, pathlib; file = pathlib.Path('stacks/Pulumi.dev.yaml').read_text();"
        "print(file + pathlib.Path('infra').read_text()); sys.exit(3 * ('broken' in file))"
    )
    monkeypatch.setattr(update, "COMMAND", (sys.executable, "-c", script))
    one = update.Update(Project(tmp_path), "dev")
    events = Events(client=None, home=tmp_path, update=one)  # type: ignore[arg-type]
    step = Step("up", detail={"b": {"d": "new"}})
    assert not events.act(step, None)
    assert events.works
    assert wait_for(lambda: events.act(step, None))
    assert not events.works
    with pytest.raises(SlipwayError, match=r"ended with 3:(.|\n)*c: 2\n *d: broken(.|\n)*the program"):
        wait_for(lambda: events.act(Step("up", detail={"b": {"d": "broken"}}), None))
    events.act(step, None)
    events.undo()
    assert not events.works


def test_an_update_ends_where_the_parent_ignores_interrupts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a command that a shell runs in the background; an ignored signal is inherited."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text("config: {slipway:platform: {a: 1}}\n", "utf-8")
    monkeypatch.setattr(update, "COMMAND", (sys.executable, "-c", "import time; time.sleep(600)"))
    one = update.Update(Project(tmp_path), "dev")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert not one.done({"a": 2})
    finally:
        signal.signal(signal.SIGINT, before)
    one.end()
    assert not one.works

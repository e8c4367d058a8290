"""The step of a scenario that updates the stack."""

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

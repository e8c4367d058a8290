"""`slipway rehearse`: which scenarios it plays, and when it refuses to."""

from pathlib import Path
from typing import cast

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from slipway.cli import main, rehearse
from slipway.engine.project import Project
from slipway.rehearsal import document
from slipway.trial.clock import ClockScenario, Variant
from spec.errors import EXIT_REFUSED, SlipwayError
from tests.slipway.conftest import Slipway
from tests.support.stacks import platform_of

PROJECT = Project(Path(__file__).resolve().parents[3])


class Cluster:
    """A cluster with these objects."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def get(self, ref: Ref) -> object:
        return {} if f"{ref.kind}/{ref.name}" in self.names else None


def test_a_stack_without_its_charts_is_refused_with_the_command() -> None:
    platform = platform_of("dev")
    with pytest.raises(SlipwayError, match=r"Kueue does not run.*SLIPWAY_CHARTS=DIR slipway up dev --sandbox"):
        rehearse._require_queues(cast("KubeClient", Cluster()), platform, "dev")
    running = Cluster("Deployment/kueue-controller-manager")
    rehearse._require_queues(cast("KubeClient", running), platform, "dev")


def test_scenarios_are_those_of_the_stack() -> None:
    names = [one.name for one in rehearse._scenarios([], PROJECT, "dev")]
    assert names == [path.stem for path in sorted((PROJECT.root / "scenarios").glob("*.yaml"))]
    assert rehearse._scenarios([], PROJECT, "another") == []
    with pytest.raises(SlipwayError, match="half-started-gang is of stack dev, not of prod"):
        rehearse._scenarios([PROJECT.root / "scenarios" / "half-started-gang.yaml"], PROJECT, "prod")


def test_a_stack_without_scenarios_is_refused_but_not_in_a_pull_request(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, slipway: Slipway
) -> None:
    monkeypatch.chdir(PROJECT.root)
    monkeypatch.setattr(rehearse, "FOLDER", "stacks/none")
    assert "has no scenario of stack staging: name a file" in slipway("rehearse staging", code=EXIT_REFUSED).err
    assert main(["rehearse", "staging", "--replayed", "--out", str(tmp_path)]) == 0
    assert document.read(tmp_path / "rehearsal.json").scenarios == []


def test_a_scenario_that_can_not_be_replayed_has_failed_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def play(variant: Variant, scenario: ClockScenario, *_: object) -> object:
        msg = f"scenario {scenario.name}: the stack has no vision"
        raise SlipwayError(msg)

    monkeypatch.setattr(rehearse, "play", play)
    monkeypatch.chdir(PROJECT.root)
    assert main(["rehearse", "dev", "--replayed", "--out", str(tmp_path)]) == 1
    found = document.read(tmp_path / "rehearsal.json")
    replayed = [one for one in rehearse._scenarios([], PROJECT, "dev") if isinstance(one, ClockScenario)]
    assert len(found.scenarios) == sum(len(one.variants) for one in replayed)
    assert f"0 of {len(found.scenarios)} scenarios and bad variants as expected" in capsys.readouterr().out
    assert found.scenarios[0].checks[0].detail.endswith("the stack has no vision")
    assert "can be replayed" in (tmp_path / "index.html").read_text(encoding="utf-8")

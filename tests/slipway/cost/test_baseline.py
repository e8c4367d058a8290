"""Settings of a commit, and of the last update of a stack."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.cli import cost
from slipway.cost.difference import as_deployed, at_commit
from slipway.engine.project import Project
from slipway.engine.state import Remembered, last_update
from spec.errors import SlipwayError
from spec.pricing import estimate
from spec.settings import load
from tests.slipway.conftest import Slipway
from tests.spec.settings.stack import BASE, changed


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def write(root: Path, data: dict[str, Any]) -> None:
    text = yaml.safe_dump({"config": {"slipway:platform": data}})
    (root / "stacks" / "Pulumi.test.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Project:
    """A repository with a stack file, changed since the last commit."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: slipway\n", encoding="utf-8")
    write(tmp_path, BASE)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "a stack")
    write(tmp_path, changed({"network.nat": "per-zone"}))
    return Project(tmp_path)


def test_the_settings_come_from_the_commit_and_not_the_working_tree(checkout: Project) -> None:
    baseline = at_commit(checkout, "test", "main")
    assert baseline is not None
    assert baseline.network.nat == "single"


def test_a_commit_without_the_stack_has_no_settings(checkout: Project) -> None:
    assert at_commit(checkout, "other", "main") is None


def test_settings_that_are_no_longer_valid_are_refused_with_the_reason(checkout: Project) -> None:
    write(checkout.root, {**BASE, "colour": "blue"})
    git(checkout.root, "commit", "-q", "-a", "-m", "an unknown key")
    with pytest.raises(SlipwayError, match=r"settings of test at main are not valid(.|\n)*colour"):
        at_commit(checkout, "test", "main")


def test_the_command_shows_the_difference_to_the_cent(
    checkout: Project, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    monkeypatch.chdir(checkout.root)
    shown = slipway("cost test --against main").out.splitlines()
    (gateways,) = (line for line in shown if line.startswith("NAT gateways"))
    assert gateways.split()[-3:] == ["+32.85", "+32.85", "+32.85"]
    (total,) = (line for line in shown if line.startswith("difference"))
    assert total.split()[-3:] == ["+36.50", "+36.50", "+36.50"]
    assert json.loads(slipway("cost test --against main --json").out)["usdPerMonth"]["expected"] == "36.50"


def test_a_new_stack_differs_by_its_whole_cost(
    checkout: Project, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    monkeypatch.chdir(checkout.root)
    data = changed({"environment.name": "fresh"})
    (checkout.stacks / "Pulumi.fresh.yaml").write_text(
        yaml.safe_dump({"config": {"slipway:platform": data}}), encoding="utf-8"
    )
    difference = json.loads(slipway("cost fresh --against main --json").out)
    assert difference["before"] == {"floor": "0.00", "expected": "0.00", "ceiling": "0.00"}
    whole = estimate(load(data, stack="fresh").platform).amounts.month
    assert difference["usdPerMonth"]["ceiling"] == f"{whole.ceiling:.2f}"


def update(kind: str, result: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
    config = {} if data is None else {"slipway:platform": {"value": json.dumps(data), "secret": False}}
    return {"kind": kind, "result": result, "config": config}


def test_the_deployed_settings_are_those_of_the_last_successful_update() -> None:
    history = [
        update("refresh", "succeeded", {"a": 2}),
        update("update", "succeeded", {"a": 1}),
        update("update", "succeeded", {"a": 0}),
    ]
    assert last_update(json.dumps(history)) == Remembered({"a": 1}, settled=True)
    failed = update("update", "failed", {"a": 3})
    assert last_update(json.dumps([failed, *history])) == Remembered({"a": 1}, settled=False)
    both_failed = [failed, update("update", "failed", {"a": 4})]
    assert last_update(json.dumps(both_failed)) == Remembered({"a": 3}, settled=False)
    assert last_update(json.dumps([update("destroy", "succeeded"), *history])) is None
    assert last_update("[]") is None
    # What the newest update found deployed.
    assert last_update(json.dumps([update("update", "succeeded", {"a": 9}), *history]), skip=1) == last_update(
        json.dumps(history)
    )
    with pytest.raises(SlipwayError, match="not a history"):
        last_update('{"a": 1}')


def test_deployed_settings_are_read_by_todays_program() -> None:
    platform = as_deployed(changed({"network.nat": "none", "network.endpoints": ENDPOINTS}), "test")
    assert platform.network.nat == "none"
    with pytest.raises(SlipwayError, match="settings of the last update of test are not valid"):
        as_deployed({"environment": {}}, "test")


def test_the_command_reads_the_deployed_settings_from_the_engines_history(
    checkout: Project, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    monkeypatch.chdir(checkout.root)
    monkeypatch.setattr(cost, "history_on_aws", lambda _, stack: json.dumps([update("update", "failed", BASE)]))
    output = slipway("cost test --deployed --json")
    assert json.loads(output.out)["usdPerMonth"]["floor"] == "36.50"
    assert "the last update of test failed" in output.err


ENDPOINTS = ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts", "sqs"]

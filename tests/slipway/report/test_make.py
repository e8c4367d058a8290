"""The command writes the two files from a checkout; a failed comparison is reported in them."""

import json
import subprocess
from pathlib import Path

import pytest

from slipway.cli import main
from slipway.engine.project import Project
from slipway.render.layout import as_data
from slipway.report import make
from slipway.report.plan import Verb
from slipway.report.plan.compare import Baseline
from tests.slipway.report.conftest import ROOT, STACK, SampleReport

pytestmark = pytest.mark.xdist_group("report")


@pytest.fixture(autouse=True)
def recorded(sample: SampleReport, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reuse the recording of the sample report."""
    monkeypatch.setattr(make, "record_platform", lambda platform, *, stack: sample.recording)
    monkeypatch.chdir(ROOT)


def run(out: Path, *arguments: str) -> tuple[str, str]:
    assert main(["report", STACK, "--out", str(out), *arguments]) == 0
    return (out / "index.html").read_text(encoding="utf-8"), (out / "report.md").read_text(encoding="utf-8")


def test_two_runs_write_the_same_bytes_and_keep_other_files(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("mine")
    assert run(tmp_path) == run(tmp_path / "second")
    assert (tmp_path / "kept.txt").read_text() == "mine"


def test_an_unknown_commit_is_reported_and_does_not_fail(tmp_path: Path) -> None:
    page, comment = run(tmp_path, "--against", "no-such-branch")
    assert "git knows no commit" in page
    assert "**Not compared with no-such-branch:** git knows no commit" in comment
    assert "No cost difference: no-such-branch can't be compared" in comment


def test_a_commit_gives_changes_and_a_cost_difference(
    tmp_path: Path, sample: SampleReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = tuple(as_data(one) for one in sample.recording if one.name != "kueue-release")
    baseline = Baseline(name="main (0123456789)", resources=resources, estimate=sample.inputs.before)
    monkeypatch.setattr(make, "baseline", lambda project, stack, ref: baseline)
    report = make.make(Project(ROOT), sample.loaded, make.Request(stack=STACK, against="main"))
    assert [(one.verb, one.name) for one in report.plan.changes] == [(Verb.CREATE, "kueue-release")]
    assert report.bill.delta == sample.report.bill.delta


def test_a_new_stack_has_only_creations(sample: SampleReport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "baseline", lambda project, stack, ref: Baseline(name="main (0123456789)", new=True))
    report = make.make(Project(ROOT), sample.loaded, make.Request(stack=STACK, against="main"))
    assert {one.verb for one in report.plan.changes} == {Verb.CREATE}
    assert report.bill.delta_problem == "the stack is new"


def test_a_pulumi_plan_replaces_the_comparison_of_renderings(tmp_path: Path) -> None:
    token = "aws:efs/fileSystem:FileSystem"
    urn = f"urn:pulumi:prod::slipway::{token}::storage-efs-files"
    step = {"op": "delete", "urn": urn, "oldState": {"type": token, "inputs": {}}}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"steps": [step]}))
    page, comment = run(tmp_path / "out", "--plan", str(plan))
    assert "the deployed state (Pulumi plan)" in page
    assert "- **delete EFS FileSystem `storage-efs-files`**. **Loses every file on it" in comment


def test_the_commit_of_the_checkout_is_shown(tmp_path: Path) -> None:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    known = subprocess.run(command, check=False, capture_output=True, text=True)
    if known.returncode:
        pytest.skip("this tree is not a git checkout, so it has no commit")
    assert known.stdout.strip()[:7] in run(tmp_path)[1]

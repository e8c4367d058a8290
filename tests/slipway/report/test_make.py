"""The command writes the two files from a checkout; a failed comparison is reported in them."""

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from slipway.cli import main
from slipway.engine.project import Project
from slipway.render.layout import as_data
from slipway.report import make
from slipway.report.markdown import marker
from slipway.report.plan import Verb
from slipway.report.plan.compare import Baseline
from tests.slipway.report.conftest import ROOT, STACK, SampleReport
from tests.support.cases import beside
from tools.ci.comment import section

CASES: Final = beside(__file__)
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
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "index.html").symlink_to(tmp_path / "kept.txt")
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
    before: dict[str, Any] = dict(sample.inputs.data) | {"cost": {"monthlyBudgetUsd": 7}}
    baseline = Baseline(
        name="main (0123456789)", resources=resources, estimate=sample.inputs.before, settings=before,
        findings=frozenset({("r/c", "old")}),
    )  # fmt: skip
    monkeypatch.setattr(make, "baseline", lambda project, stack, ref, *, judged: baseline)
    report = make.make(Project(ROOT), sample.loaded, make.ReportRequest(stack=STACK, against="main"))
    assert [(one.verb, one.name) for one in report.plan.changes] == [(Verb.CREATE, "kueue-release")]
    assert report.bill.delta == sample.report.bill.delta
    assert "cost.monthlyBudgetUsd" in {one.path for one in report.effects.settings}
    assert report.effects.gone == (("r/c", "old"),)
    assert len(report.effects.new or ()) == report.evaluation.count("advisory")


def test_a_new_stack_has_only_creations(sample: SampleReport, monkeypatch: pytest.MonkeyPatch) -> None:
    new = Baseline(name="main (0123456789)", new=True)
    monkeypatch.setattr(make, "baseline", lambda project, stack, ref, *, judged: new)
    report = make.make(Project(ROOT), sample.loaded, make.ReportRequest(stack=STACK, against="main"))
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


def document(tmp_path: Path, name: str, content: object) -> str:
    (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    return str(tmp_path / name)


def rehearsed(*met: bool) -> dict[str, object]:
    checks = [[{**CASES["check"], "status": "passed" if one else "failed"}] for one in met]
    scenarios = [
        {**CASES["scenario"], "scenario": f"night-{number}", "passed": one, "checks": checks[number]}
        for number, one in enumerate(met)
    ]
    return {"version": 1, "stack": STACK, "scenarios": scenarios}


def advised(*, advised: bool) -> dict[str, object]:
    objections = [] if advised else ["the mean wait of team vision is longer"]
    return {**CASES["advice"], "stack": STACK, "advised": advised, "objections": objections}


def test_scenarios_and_advice_are_on_the_page_and_in_the_comment(tmp_path: Path) -> None:
    page, comment = run(
        tmp_path / "out",
        "--rehearsal", document(tmp_path, "rehearsal.json", rehearsed(True, False, True)),
        "--advice", document(tmp_path, "advice.json", advised(advised=True)),
    )  # fmt: skip
    scenarios = comment[comment.index("**Scenarios: 2 of 3 scenarios and bad variants as expected**") :].splitlines()
    assert scenarios[2:6] == [
        "- `night-1` **not as expected**: The night costs nothing.",
        "  - job/next waits at most 7h: next waited 9 h: job/next &lt;waits&gt; for @\u200bteam",
        "- `night-0` as expected: The night costs nothing.",
        "- `night-2` as expected: The night costs nothing.",
    ]
    assert (
        "What saves most, by replays of the generator (1,000 jobs): In no figure: 10 of 1,000 jobs, 5.0 of 50.0 GPU "
        "hours (10.0%). 10: no B200. Advised: 25.0 % less for an hour of work, on days that the search has not seen."
        "\n\n- cpu: Spot instead of on-demand (but EC2 takes nodes back)\n\n```diff\n-  "
    ) in comment
    # What GitHub shows is what is written here: comment.yml changes nothing that is visible.
    shown = section(STACK, comment).replace("\u200b", "")
    assert shown.split() == comment.removeprefix(marker(STACK)).replace("\u200b", "").split()
    assert '<section id="scenarios"' in page
    assert "What saves most" in page
    assert "capacity: {market: spot}" in page


def test_what_is_not_advised_has_no_diff_to_apply(tmp_path: Path) -> None:
    page, comment = run(tmp_path / "out", "--advice", document(tmp_path, "advice.json", advised(advised=False)))
    assert "Nothing is advised." in comment
    assert "the mean wait of team vision is longer" in comment
    assert "```diff" not in comment
    assert "capacity: {market: spot}" not in page
    assert "Scenarios:" not in comment
    assert '<section id="scenarios"' not in page

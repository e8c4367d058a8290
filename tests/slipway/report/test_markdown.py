"""The comment is short, lists the most severe items first, and shows user text literally."""

import re
from dataclasses import replace

import pytest

from slipway.report.markdown import code, markdown, prose
from slipway.report.model import FindingView, Report
from slipway.report.plan import NOTHING, Plan, PropertyChange, ResourceChange, Verb
from spec.pricing import Amounts
from tests.slipway.report.conftest import HOSTILE, SampleReport, hostile

LIMIT = 65_536
"""Maximum characters of a GitHub comment."""

pytestmark = pytest.mark.xdist_group("report")


def large(report: Report) -> Report:
    """Two thousand changes and as many findings with very long texts."""
    changed = PropertyChange(path="p" * 500, before="b" * 500, after="a" * 500, forces=True)
    changes = [
        ResourceChange(
            urn=f"urn:pulumi:s::slipway::aws:t{number}/x:X::{'n' * 300}-{number}",
            type=f"aws:t{number}/x:X",
            verb=Verb.REPLACE,
            properties=(changed, changed, changed),
            loses="all " * 200,
            fix="none " * 200,
        )
        for number in range(2000)
    ]
    findings = [
        FindingView(
            level="mandatory",
            severity="high",
            rule=f"rule-{number}",
            title="t",
            cases=(("r" * 500, "m" * 2000),),
            external_ids=(),
        )
        for number in range(2000)
    ]
    return replace(
        report,
        plan=Plan(against="main", changes=tuple(changes)),
        evaluation=replace(report.evaluation, findings=tuple(findings)),
    )


def test_it_starts_with_the_marker(sample: SampleReport) -> None:
    assert markdown(sample.report).startswith("<!-- slipway-report:prod -->\n")


def test_it_is_short(sample: SampleReport) -> None:
    text = markdown(sample.report)
    assert len(text.splitlines()) < 60
    assert len(text) < 10_000


def test_it_never_exceeds_the_limit_of_a_comment(sample: SampleReport) -> None:
    text = markdown(large(sample.report))
    assert len(text) < LIMIT
    assert len(text.splitlines()) < 60


def test_a_loss_is_bold_and_has_a_fix(sample: SampleReport) -> None:
    line = next(line for line in markdown(sample.report).splitlines() if "storage-efs-files" in line)
    assert line.startswith("- **replace EFS FileSystem `storage-efs-files`**")
    assert "`performanceMode`: `maxIO` → `generalPurpose`" in line
    assert "**Loses every file on it: data sets, checkpoints, models.** Fix: " in line


def test_dependents_are_counted_and_not_listed(sample: SampleReport) -> None:
    text = markdown(sample.report)
    assert re.search(r"- \d+ resources that reference `storage-efs-files` may be replaced with it", text)
    assert "storage-efs-a" not in text


def test_the_cost_difference_is_to_the_cent(sample: SampleReport) -> None:
    delta = sample.report.bill.delta
    assert delta is not None
    assert f"| **difference** | **$0.00** | **$0.00** | **+${delta.ceiling:,.2f}** |" in markdown(sample.report)


def test_mandatory_findings_come_first_and_bold(sample: SampleReport) -> None:
    one = FindingView(
        level="mandatory", severity="high", rule="r/c", title="t", cases=(("x", "wrong"),), external_ids=()
    )
    evaluation = replace(sample.report.evaluation, findings=(one, *sample.report.evaluation.findings))
    text = markdown(replace(sample.report, evaluation=evaluation))
    assert "**Policies: 1 mandatory and " in text
    assert text.index("- **mandatory `r/c` on `x`**: wrong") < text.index("- advisory")


def test_without_a_comparison_it_has_no_changes_and_no_difference(sample: SampleReport) -> None:
    bare = replace(sample.report, plan=NOTHING, bill=replace(sample.report.bill, delta=None, movers=()))
    text = markdown(bare)
    assert "compared with" not in text
    assert "difference" not in text
    assert f"| stack prod | ${sample.report.bill.total.floor:,.2f} |" in text


def test_a_failed_comparison_is_reported_with_the_reason(sample: SampleReport) -> None:
    text = markdown(replace(sample.report, plan=Plan(against="main", problem="its program failed to render")))
    assert "**Not compared with main:** its program failed to render" in text


def test_no_changes_are_reported(sample: SampleReport) -> None:
    bill = replace(sample.report.bill, delta=Amounts(), movers=())
    text = markdown(replace(sample.report, plan=Plan(against="main", unchanged=7), bill=bill))
    assert "**No resource changes** compared with main; 7 unchanged." in text


def test_markup_in_user_text_is_escaped(sample: SampleReport) -> None:
    text = markdown(hostile(sample.report))
    outside = re.sub(r"`[^`]*`", "", text.partition("\n")[2])
    assert HOSTILE in text  # inside code, which is shown literally
    assert "<img" not in outside
    assert "</script" not in outside


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a | b", r"a \| b"),
        ("<b>", "&lt;b&gt;"),
        ("*x* _y_ `z` [l](u)", r"\*x\* \_y\_ \`z\` \[l\](u)"),
        ("al2023@latest, #12", "al2023@\u200blatest, #\u200b12"),
        ("two\nlines", "two lines"),
    ],
)
def test_prose_is_shown_literally(text: str, safe: str) -> None:
    assert prose(text) == safe


def test_code_cannot_break_out_of_its_backticks_or_table_cell() -> None:
    assert code("a`b|c\nd") == "`a'b¦c d`"
    assert code("") == "—"

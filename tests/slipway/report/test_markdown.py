"""The comment is short, says the worst first, and shows what people wrote as they wrote it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from slipway.report.markdown import code, markdown, prose
from slipway.report.model import FindingView, Report
from slipway.report.plan import NOTHING, Plan, PropertyChange, ResourceChange, Verb
from spec.pricing import Amounts
from tests.slipway.report.conftest import HOSTILE, SampleReport, hostile

LIMIT = 65_536
"""Characters that GitHub takes in a comment."""

pytestmark = pytest.mark.xdist_group("report")


def large(report: Report) -> Report:
    """Two thousand changes and as many findings, each as long as can be."""
    told = PropertyChange(path="p" * 500, before="b" * 500, after="a" * 500, forces=True)
    changes = [
        ResourceChange(
            urn=f"urn:pulumi:s::slipway::aws:t{number}/x:X::{'n' * 300}-{number}",
            type=f"aws:t{number}/x:X",
            verb=Verb.REPLACE,
            properties=(told, told, told),
            loses="all " * 200,
            fix="none " * 200,
        )
        for number in range(2000)
    ]
    found = [
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
        evaluation=replace(report.evaluation, findings=tuple(found)),
    )


def test_it_begins_with_the_mark_by_which_it_is_found_again(sample: SampleReport) -> None:
    assert markdown(sample.report).startswith("<!-- slipway-report:prod -->\n")


def test_it_is_short(sample: SampleReport) -> None:
    text = markdown(sample.report)
    assert len(text.splitlines()) < 60
    assert len(text) < 10_000


def test_it_is_never_too_long_for_a_comment(sample: SampleReport) -> None:
    text = markdown(large(sample.report))
    assert len(text) < LIMIT
    assert len(text.splitlines()) < 60


def test_a_loss_is_bold_and_tells_what_to_do(sample: SampleReport) -> None:
    line = next(line for line in markdown(sample.report).splitlines() if "storage-efs-files" in line)
    assert line.startswith("- **replace EFS FileSystem `storage-efs-files`**")
    assert "`performanceMode`: `maxIO` → `generalPurpose`" in line
    assert "**Loses every file on it: data sets, checkpoints, models.** Mend: " in line


def test_what_follows_is_counted_and_not_listed(sample: SampleReport) -> None:
    text = markdown(sample.report)
    assert re.search(r"- \d+ resources that name `storage-efs-files` may be replaced with it", text)
    assert "storage-efs-a" not in text


def test_the_difference_is_to_the_cent(sample: SampleReport) -> None:
    delta = sample.report.bill.delta
    assert delta is not None
    assert f"| **difference** | **$0.00** | **$0.00** | **+${delta.ceiling:,.2f}** |" in markdown(sample.report)


def test_mandatory_findings_come_first_and_bold(sample: SampleReport) -> None:
    one = FindingView(
        level="mandatory", severity="high", rule="r/c", title="t", cases=(("x", "wrong"),), external_ids=()
    )
    found = replace(sample.report.evaluation, findings=(one, *sample.report.evaluation.findings))
    text = markdown(replace(sample.report, evaluation=found))
    assert "**Policies: 1 mandatory and " in text
    assert text.index("- **mandatory `r/c` on `x`**: wrong") < text.index("- advisory")


def test_without_a_comparison_it_speaks_of_none(sample: SampleReport) -> None:
    bare = replace(sample.report, plan=NOTHING, bill=replace(sample.report.bill, delta=None, movers=()))
    text = markdown(bare)
    assert "against" not in text
    assert "difference" not in text


def test_a_comparison_that_failed_says_why(sample: SampleReport) -> None:
    text = markdown(replace(sample.report, plan=Plan(against="main", problem="its program does not render")))
    assert "**Not compared with main:** its program does not render" in text


def test_nothing_changed_is_said(sample: SampleReport) -> None:
    bill = replace(sample.report.bill, delta=Amounts(), movers=())
    text = markdown(replace(sample.report, plan=Plan(against="main", unchanged=7), bill=bill))
    assert "**No resource changes** against main; 7 stay as they are." in text


def test_no_markup_of_others_gets_through(sample: SampleReport) -> None:
    text = markdown(hostile(sample.report))
    outside = re.sub(r"`[^`]*`", "", text.partition("\n")[2])
    assert HOSTILE in text  # inside code, which shows it as it is
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
def test_prose_shows_what_is_there(text: str, safe: str) -> None:
    assert prose(text) == safe


def test_code_stays_inside_its_ticks_and_its_cell() -> None:
    assert code("a`b|c\nd") == "`a'b¦c d`"
    assert code("") == "—"

"""The report as an HTML page, with numbers for readers."""

import re
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from typing import Final

import pytest

from slipway.report.markdown import code, markdown, prose
from slipway.report.model import FindingView, PoolView, Report
from slipway.report.page import (
    DRAWN,
    SECTIONS,
    cents,
    counted,
    nodes,
    page,
    percent,
    sections,
    signed,
    span,
    usd,
    usd_span,
)
from slipway.report.plan import NOTHING, Plan, PropertyChange, ResourceChange, Verb
from spec.pricing import Amounts
from tests.slipway.report.conftest import HOSTILE, SampleReport, hostile
from tests.support.cases import beside

CASES: Final = beside(__file__)

# Number formats of the report.


@pytest.mark.parametrize(("amount", "whole", "exact", "difference"), CASES["amounts are formatted"])
def test_amounts_are_formatted(amount: str, whole: str, exact: str, difference: str) -> None:
    value = Decimal(amount)
    assert (usd(value), cents(value), signed(value)) == (whole, exact, difference)


def test_a_range_with_equal_ends_is_one_number() -> None:
    assert (span(4, 4), span(0, 4)) == ("4", "0–4")  # noqa: RUF001 - a dash between numbers
    assert usd_span(Decimal("0.3"), Decimal("1.834")) == "$0.30–1.83"  # noqa: RUF001 - as above
    assert (usd_span(Decimal(2), Decimal(2)), usd_span(None, None)) == ("$2.00", "")


def test_nouns_are_pluralized() -> None:
    assert (counted(1, "pool"), counted(2, "pool"), counted(0, "property", "properties")) == (
        "1 pool",
        "2 pools",
        "0 properties",
    )


# The page is complete, makes no network requests, and escapes markup in user text.


pytestmark = pytest.mark.xdist_group("report")


class Elements(HTMLParser):
    """Every element with its attributes, and the elements that are not closed."""

    VOID = frozenset({"meta", "link", "br", "img", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


def test_every_element_is_closed(sample: SampleReport) -> None:
    found = Elements(page(sample.report))
    assert found.open == []
    assert len(found.found) > 500


def test_every_section_exists_and_is_linked(sample: SampleReport) -> None:
    found = Elements(page(sample.report)).found
    ids = {attributes["id"] for _, attributes in found if "id" in attributes}
    links = {attributes["href"] for tag, attributes in found if tag == "a"}
    assert set(SECTIONS) <= ids
    assert {f"#{name}" for name in SECTIONS} <= links
    assert all(str(link).startswith("#") and str(link)[1:] in ids for link in links)


def test_it_makes_no_network_requests(sample: SampleReport) -> None:
    text = page(sample.report)
    found = Elements(text).found
    assert not [tag for tag, attributes in found if {"src", "srcset", "action"} & attributes.keys()]
    assert not {"link", "img", "iframe", "object", "form"} & {tag for tag, _ in found}
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_markup_in_user_text_is_escaped(sample: SampleReport) -> None:
    text = page(hostile(sample.report))
    found = Elements(text)
    assert found.open == []
    assert text.count("<script>") == text.count("</script>") == 1
    assert not [tag for tag, _ in found.found if tag == "img"]
    assert HOSTILE not in text
    assert text.count("&lt;img src=x onerror=") > 20


def test_every_gpu_is_drawn(sample: SampleReport) -> None:
    text = page(sample.report)
    drawn = 0
    for node in re.findall(r'data-nodes="(\d+)">(.*?)</div>', text, re.DOTALL):
        drawn += int(node[0]) * node[1].count("data-gpu")
    assert drawn == sample.report.gpus_max > 0


def test_the_longest_bar_of_each_chart_fills_it(sample: SampleReport) -> None:
    charts = page(sample.report).split('<div class="by" data-by="')[1:]
    assert len(charts) == len(sample.report.bill.by)
    for chart in charts:
        track = re.findall(r'<div class="track">(.*?)</div>', chart.partition("</table>")[0])
        widths = [float(width) for bars in track for width in re.findall(r"width:([\d.]+)%", bars)]
        assert max(widths) == 100


def pool(sample: SampleReport, minimum: int, maximum: int) -> PoolView:
    return replace(sample.report.pools[0], minimum=minimum, maximum=maximum)


def test_a_large_pool_is_drawn_as_one_node_of_each_kind(sample: SampleReport) -> None:
    assert nodes(pool(sample, 1, 3)) == [("always", 1), ("elastic", 1), ("elastic", 1)]
    assert nodes(pool(sample, 10, DRAWN + 1)) == [("always", 10), ("elastic", DRAWN - 9)]
    assert nodes(pool(sample, 0, 1000)) == [("elastic", 1000)]


def test_empty_sections_explain_how_to_fill_them(sample: SampleReport) -> None:
    bare = replace(sample.report, plan=NOTHING, teams=(), quotas=(), software=(), addons=(), stores=())
    text = page(bare)
    assert Elements(text).open == []
    assert "--against main" in text
    assert "No teams" in text


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (Plan(against="main", problem="git knows no commit"), "Not compared with main."),
        (Plan(against="main", unchanged=3), "No resource changes compared with main"),
    ],
)
def test_a_comparison_without_changes_is_explained(sample: SampleReport, plan: Plan, text: str) -> None:
    assert text in page(replace(sample.report, plan=plan))


def test_changes_come_first_if_there_is_a_comparison(sample: SampleReport) -> None:
    assert next(iter(sections(sample.report))) == "changes"
    bare = sections(replace(sample.report, plan=NOTHING))
    assert (next(iter(bare)), list(bare)[-2:]) == ("actions", ["changes", "caveats"])
    assert bare.keys() == SECTIONS.keys()


def test_a_percentage_of_zero_is_zero(sample: SampleReport) -> None:
    total = sample.report.bill.total
    assert (percent(total.floor, total.floor - total.floor), percent(total.floor, total.floor)) == ("0.00%", "100.00%")


# The comment is short, lists the most severe items first, and shows user text literally.


LIMIT = 65_536
"""Maximum characters of a GitHub comment."""


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
    assert len(text.splitlines()) < 70 + 2 * len(sample.report.scenarios) + 2


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
    part = delta.ceiling / (sample.report.bill.total.ceiling - delta.ceiling)
    difference = f"| **difference** | **$0.00** | **$0.00** | **+${delta.ceiling:,.2f} (+{part:.1%})** |"
    assert difference in markdown(sample.report)


def test_mandatory_findings_come_first_and_bold(sample: SampleReport) -> None:
    one = FindingView(
        level="mandatory", severity="high", rule="r/c", title="t", cases=(("x", "wrong"),), external_ids=()
    )
    evaluation = replace(sample.report.evaluation, findings=(one, replace(one, level="advisory", rule="r/d")))
    text = markdown(replace(sample.report, evaluation=evaluation))
    assert "**Policies: 1 mandatory and " in text
    assert text.index("- **mandatory `r/c` on `x`**: wrong") < text.index("- advisory")


def test_without_a_comparison_it_has_no_changes_and_no_difference(sample: SampleReport) -> None:
    bare = replace(sample.report, plan=NOTHING, bill=replace(sample.report.bill, delta=None, movers=()))
    text = markdown(bare)
    assert "compared with" not in text
    assert "difference" not in text
    assert f"| stack prod | ${sample.report.bill.total.floor:,.2f} |" in text


def test_no_changes_are_reported(sample: SampleReport) -> None:
    bill = replace(sample.report.bill, delta=Amounts(), movers=())
    text = markdown(replace(sample.report, plan=Plan(against="main", unchanged=7), bill=bill))
    assert "**No resource changes** compared with main; 7 unchanged." in text


def test_markup_in_user_text_is_escaped_in_markdown(sample: SampleReport) -> None:
    text = markdown(hostile(sample.report))
    outside = re.sub(r"`[^`]*`", "", text.partition("\n")[2])
    assert HOSTILE in text  # inside code, which is shown literally
    assert "<img" not in outside
    assert "</script" not in outside


@pytest.mark.parametrize(("text", "safe"), CASES["prose is shown literally"])
def test_prose_is_shown_literally(text: str, safe: str) -> None:
    assert prose(text) == safe


def test_code_cannot_break_out_of_its_backticks_or_table_cell() -> None:
    assert code("a`b|c\nd") == "`a'b¦c d`"
    assert code("") == "—"

"""The page is whole, asks the network for nothing, and lets no markup of others through."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from slipway.report.model import PoolView
from slipway.report.page import DRAWN, SECTIONS, nodes, page, percent, sections
from slipway.report.plan import NOTHING, Plan
from tests.report.conftest import HOSTILE, Made, hostile

pytestmark = pytest.mark.xdist_group("report")


class Elements(HTMLParser):
    """Every element with its attributes, and what is left open."""

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


def test_every_element_is_closed(made: Made) -> None:
    found = Elements(page(made.report))
    assert found.open == []
    assert len(found.found) > 500


def test_every_section_is_there_and_linked(made: Made) -> None:
    found = Elements(page(made.report)).found
    ids = {attributes["id"] for _, attributes in found if "id" in attributes}
    links = {attributes["href"] for tag, attributes in found if tag == "a"}
    assert set(SECTIONS) <= ids
    assert {f"#{name}" for name in SECTIONS} <= links
    assert all(str(link).startswith("#") and str(link)[1:] in ids for link in links)


def test_it_asks_the_network_for_nothing(made: Made) -> None:
    text = page(made.report)
    found = Elements(text).found
    assert not [tag for tag, attributes in found if {"src", "srcset", "action"} & attributes.keys()]
    assert not {"link", "img", "iframe", "object", "form"} & {tag for tag, _ in found}
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_two_runs_give_the_same_bytes(made: Made) -> None:
    assert page(made.report).encode() == page(replace(made.report)).encode()


def test_no_markup_of_others_gets_through(made: Made) -> None:
    text = page(hostile(made.report))
    found = Elements(text)
    assert found.open == []
    assert text.count("<script>") == text.count("</script>") == 1
    assert not [tag for tag, _ in found.found if tag == "img"]
    assert HOSTILE not in text
    assert text.count("&lt;img src=x onerror=") > 20


def test_every_gpu_is_drawn(made: Made) -> None:
    text = page(made.report)
    drawn = 0
    for node in re.findall(r'data-nodes="(\d+)">(.*?)</div>', text, re.DOTALL):
        drawn += int(node[0]) * node[1].count("data-gpu")
    assert drawn == made.report.gpus_most > 0


def test_the_longest_bar_of_each_chart_fills_it(made: Made) -> None:
    charts = page(made.report).split('<div class="by" data-by="')[1:]
    assert len(charts) == len(made.report.bill.by)
    for chart in charts:
        track = re.findall(r'<div class="track">(.*?)</div>', chart.partition("</table>")[0])
        widths = [float(width) for bars in track for width in re.findall(r"width:([\d.]+)%", bars)]
        assert max(widths) == 100


def pool(made: Made, least: int, most: int) -> PoolView:
    return replace(made.report.pools[0], least=least, most=most)


def test_a_large_pool_is_drawn_by_one_node_of_each_sort(made: Made) -> None:
    assert nodes(pool(made, 1, 3)) == [("always", 1), ("elastic", 1), ("elastic", 1)]
    assert nodes(pool(made, 10, DRAWN + 1)) == [("always", 10), ("elastic", DRAWN - 9)]
    assert nodes(pool(made, 0, 1000)) == [("elastic", 1000)]


def test_empty_states_say_what_to_do(made: Made) -> None:
    bare = replace(made.report, plan=NOTHING, teams=(), quotas=(), software=(), addons=(), stores=())
    text = page(bare)
    assert Elements(text).open == []
    assert "--against main" in text
    assert "No teams" in text


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Plan(against="main", problem="git knows no commit"), "Not compared with main."),
        (Plan(against="main", unchanged=3), "No resource changes against main"),
    ],
)
def test_a_comparison_without_changes_says_why(made: Made, plan: Plan, said: str) -> None:
    assert said in page(replace(made.report, plan=plan))


def test_changes_stand_first_where_there_are_any(made: Made) -> None:
    assert next(iter(sections(made.report))) == "changes"
    bare = sections(replace(made.report, plan=NOTHING))
    assert (next(iter(bare)), list(bare)[-2:]) == ("cluster", ["changes", "doubts"])
    assert bare.keys() == SECTIONS.keys()


def test_a_part_of_nothing_is_nothing(made: Made) -> None:
    total = made.report.bill.total
    assert (percent(total.floor, total.floor - total.floor), percent(total.floor, total.floor)) == ("0.00%", "100.00%")

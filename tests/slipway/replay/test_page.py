"""The page: a file of its own, with every row, in which no text of a trace is markup."""

import re
from html.parser import HTMLParser

from slipway.replay.fold import Fold
from slipway.replay.page import HEIGHT, SECTIONS, WIDTH, area, page
from slipway.replay.result import Result
from tests.slipway.replay.examples import TRACE, events, planned, result

HOSTILE = "<script>alert(1)</script>\"'&"


class Ids(HTMLParser):
    """Collects IDs, links and the tags that are left open."""

    VOID = frozenset({"meta", "line", "path", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [str(given["id"])] if "id" in given else []
        self.links += [str(given["href"])] if "href" in given else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass


def parsed(text: str) -> Ids:
    found = Ids()
    found.feed(text)
    return found


def test_the_page_has_a_row_for_each_team_and_pool_and_needs_no_network() -> None:
    text = page(result())
    found = parsed(text)
    assert found.open == []
    assert len(set(found.ids)) == len(found.ids)
    assert set(SECTIONS) <= set(found.ids)
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids), "it links to itself alone"
    for name in ("language", "vision", "cpu", "gpu-spot", "a100", "h100"):
        assert f"<h3>{name}</h3>" in text
    assert "script" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text
    assert "CPUs of its nodes" in text
    assert text.count("<figure") == 2 + 3 * 4


def test_the_longest_waits_have_the_sentence_and_the_words() -> None:
    text = page(result())
    assert "job/sweep waits in its queue" in text
    assert "insufficient unused quota for nvidia.com/gpu in flavor h100" in text
    assert "nodes: model, launches the cheapest node that fits" in text


def test_a_replay_that_was_cut_says_so_and_another_is_beside_it() -> None:
    text = page(result(until=14), result())
    assert "Cut by the engine ended early." in text
    assert '<span class="other">60.7 %</span>' in text
    assert (
        0
        < text.index("<b>In no figure: 2 of 5 jobs")
        < text.index("<b>Of the other: In no")
        < text.index('class="tiles"')
    )
    assert parsed(text).open == []


def test_text_of_a_trace_is_no_markup() -> None:
    plan = planned(TRACE.replace("sweep,", f'"{HOSTILE.replace(chr(34), chr(34) * 2)}",').replace("batch", HOSTILE[:8]))
    fold = Fold(plan, stack="dev", source=HOSTILE, form="csv")
    for event in events():
        fold.add(event)
    found: Result = fold.result()
    assert found.longest[0].job == HOSTILE
    text = page(found)
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert parsed(text).open == []


def test_charts_stay_inside_their_frame() -> None:
    path = area([0, 1, 4, 2], 4)
    numbers = [float(number) for number in re.findall(r"[\d.]+", path)]
    assert max(numbers) == WIDTH
    assert f"V{4.0}" in path, "the largest value is at the upper edge"
    assert path.endswith(f"V{HEIGHT}Z")
    assert area([], 1) == area([0, 0], 0) == ""

"""The pictures are current, self-contained, and show what they say."""

import json
import re
from html import unescape
from xml.etree import ElementTree

import pytest

from tests.support.generated import PICTURES as COMMAND
from tests.support.generated import check
from tools.site.pictures import FOLDER, PICTURES, cluster
from tools.site.record import RECORDING
from tools.site.terminal import COLUMNS, ROW, ROWS, terminal


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_current(name: str) -> None:
    check(FOLDER / name, PICTURES[name](), COMMAND)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_xml_that_loads_nothing(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)  # noqa: S314 - our own file
    assert root.attrib["aria-label"]
    assert set(re.findall(r"https?://[^\"' )]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in text.replace("url(#head)", "")


def test_the_cluster_has_every_pool_with_its_nodes() -> None:
    drawn = cluster("prod")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert {"a100", "cpu", "gpu-spot", "h100", "system"} <= set(texts)
    assert {"4 to 4 nodes", "0 to 24 nodes", "+18", "+34"} <= set(texts)
    # Four nodes of eight H100s run always; one node of A100s, each partitioned into three.
    assert drawn.count('class="gpu"') == 4 * 8 + 8 * 3
    assert {"team vision", "team language", "team recommender"} <= set(texts)


def test_the_session_shows_every_recorded_line_in_order() -> None:
    session = json.loads(RECORDING.read_text(encoding="utf-8"))
    shown = [unescape(text) for text in re.findall(r'class="row[^>]*>([^<]*)</text>', terminal(session))]
    wanted = [line for step in session for line in [f"$ {step['command']}", *(text for _, text in step["lines"])]]
    assert [line for line in shown if line] == [
        line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…" for line in wanted if line
    ]


def test_the_screen_is_never_empty_while_it_scrolls() -> None:
    """Rows that come at one time scroll once: two positions at one time would scroll before they come."""
    lines = [(0.0, f"line {number}") for number in range(60)]
    drawn = terminal([{"command": "first", "lines": lines}, {"command": "second", "lines": lines}])
    frames = re.findall(r"([\d.]+)% \{ transform: translateY\((-?\d+)px\)", drawn.partition("@keyframes scroll")[2])
    times = [float(time) for time, _ in frames]
    assert times == sorted(set(times))
    starts = [float(time) for time in re.findall(r"@keyframes r\d+ \{ 0%, ([\d.]+)%", drawn)]
    for time, moved in frames[1:]:
        shown = sum(start < float(time) for start in starts)
        assert -int(moved) <= max(0, shown - ROWS) * ROW, (time, moved)


def test_the_session_is_of_real_commands_and_names_no_machine() -> None:
    text = RECORDING.read_text(encoding="utf-8")
    assert "Stack dev: 2 to create, 12 to update, 2 to delete" in text
    assert not re.search(r"/(home|root|tmp|work)/", text)

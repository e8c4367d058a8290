"""Pages as GitHub renders them become pages as Python-Markdown renders them."""

import json
import posixpath
import re
from html import unescape
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest
import yaml

from slipway import __version__
from tests.docs.pages import ROOT, pages
from tests.support.cases import beside
from tests.support.generated import PICTURES as COMMAND
from tests.support.generated import check
from tools.site import releases, stage
from tools.site.markdown import rewrite, title
from tools.site.pictures import FOLDER, PICTURES, cluster
from tools.site.record import RECORDING
from tools.site.terminal import COLUMNS, ROW, ROWS, terminal

CASES: Final = beside(__file__)


def link(target: str) -> str | None:
    """As on a site that has all pages but those in `gone`."""
    return None if target.startswith("gone") else f"new/{target}"


@pytest.mark.parametrize(("page", "wanted"), CASES["links change outside of code"])
def test_links_change_outside_of_code(page: str, wanted: str) -> None:
    assert rewrite(page, link) == wanted


def test_the_contents_of_items_are_indented_by_four() -> None:
    page = CASES["items"]
    wanted = CASES["items indented by four"]
    assert rewrite(page, link) == wanted


def test_dashes_in_code_begin_no_list() -> None:
    page = "text:\n\n    - not an item\n      of a list\n\n- an item\n"
    assert rewrite(page, link) == page


def test_the_title_is_the_first_heading_without_code() -> None:
    assert title("<!-- x -->\n# The `slipway` command\n\n## More\n") == "The slipway command"


# Which pages are on the site, where, and in which table of contents.


def test_every_page_of_the_repository_is_on_the_site() -> None:
    names = {str(page.relative_to(ROOT)) for page in pages()}
    assert {name for name in names if name not in stage.pages()} == set()
    places = list(stage.pages().values())
    assert len(places) == len(set(places))


def test_every_page_is_in_the_contents_once(tmp_path: Path) -> None:
    config = yaml.load(stage.stage(build=tmp_path).read_text(), stage._Loader)  # noqa: S506 - a safe loader
    listed = list(stage._names(config["nav"]))
    changelog = (ROOT / releases.SOURCE).read_text(encoding="utf-8")
    places = {*stage.pages().values(), *releases.pages(changelog)}
    assert sorted(listed) == sorted(place for place in places if place.endswith(".md"))


def test_a_page_that_no_entry_matches_comes_last() -> None:
    nav = stage.configuration(
        {place: "# Title\n" for place in (*stage.pages().values(), "elsewhere/page.md") if place.endswith(".md")}
    )["nav"]
    assert list(stage._names(nav))[-1] == "elsewhere/page.md"


@pytest.mark.parametrize(("page", "link", "wanted"), CASES["a link leads to the same page on the site"])
def test_a_link_leads_to_the_same_page_on_the_site(page: str, link: str, wanted: str | None) -> None:
    assert stage._link(page, link, stage.pages()) == wanted
    if wanted is not None and "://" not in wanted and not wanted.startswith("#"):
        place = posixpath.normpath(
            posixpath.join(posixpath.dirname(stage.placed(page) or ""), wanted.partition("#")[0])
        )
        assert place in stage.pages().values()


# Release notes: a page for each version of the changelog, with the steps of its upgrade.


CHANGELOG = Path(__file__).with_name("changelog.txt").read_text(encoding="utf-8")


def test_each_version_has_a_page_and_the_index_lists_them_newest_first() -> None:
    found = releases.pages(CHANGELOG)
    assert list(found) == ["releases/README.md", "releases/unreleased.md", "releases/0.2.0.md", "releases/0.1.0.md"]
    assert re.findall(r"^\| \[(.+?)\]\((.+?)\) \| (.+?) \|$", found["releases/README.md"], re.M) == [
        ("Unreleased", "releases/unreleased.md", "not released"),
        ("0.2.0", "releases/0.2.0.md", "2027-01-31"),
        ("0.1.0", "releases/0.1.0.md", "2026-12-01"),
    ]


def test_a_page_begins_with_the_steps_from_the_version_before_it() -> None:
    page = releases.pages(CHANGELOG)["releases/0.2.0.md"]
    assert page.startswith("# Slipway 0.2.0\n\nReleased on 2027-01-31.")
    assert page.index("git merge v0.2.0 && make setup") < page.index("--against v0.1.0") < page.index("\n## Changed\n")
    assert "\n### Details\n" in page
    assert "first thing" not in page
    assert "third thing" not in page


def test_without_changes_that_need_action_no_link_leads_to_them() -> None:
    page = releases.pages(CHANGELOG)["releases/0.1.0.md"]
    assert "#changed" not in page
    assert "No setting, default or resource changed." in page
    assert "--against YOURS" in page


@pytest.mark.parametrize("heading", ["## 0.3 - 2027-02-01", "## 0.3.0", "## v0.3.0 - 2027-02-01", "## unreleased"])
def test_a_heading_that_names_no_version_is_refused(heading: str) -> None:
    with pytest.raises(ValueError, match=re.escape(heading)):
        releases.pages(f"# Changelog\n\n{heading}\n\n### Added\n- It.\n")


def test_the_changelog_has_each_section_once_in_order_and_the_version_of_the_package() -> None:
    found = releases.read((ROOT / releases.SOURCE).read_text(encoding="utf-8"))
    assert found
    assert [one.version for one in found if not one.date] in ([], [releases.UNRELEASED])
    dated = [(one.date, tuple(map(int, one.version.split(".")))) for one in found if one.date]
    assert dated == sorted(dated, reverse=True)
    # Before its first release a package has the version that this will be.
    assert not dated or ".".join(map(str, dated[0][1])) == __version__
    for one in found:
        sections = re.findall(r"^### (.+)$", one.body, re.M)
        assert sections == [name for name in releases.SECTIONS if name in sections], one.version


# The pictures are current, self-contained, and show what they say.


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
    assert "Stack dev: 2 to create, 10 to update, 2 to delete" in text
    assert not re.search(r"/(home|root|tmp|work)/", text)

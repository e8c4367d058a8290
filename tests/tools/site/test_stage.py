"""Which pages are on the site, where, and in which table of contents."""

import posixpath
from pathlib import Path

import pytest
import yaml

from tests.docs.pages import ROOT, pages
from tools.site import releases, stage


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


@pytest.mark.parametrize(
    ("page", "link", "wanted"),
    [
        ("docs/README.md", "../README.md#try-it", "project/about.md#try-it"),
        ("docs/guides/data.md", "../../stacks/README.md", "../stacks.md"),
        ("docs/examples.md", "../examples/notebook/", "examples/notebook.md"),
        ("examples/notebook/README.md", "../../docs/adr/0034-notebooks.md", "../adr/0034-notebooks.md"),
        ("README.md", "docs/images/two-worlds.svg", "../images/two-worlds.svg"),
        ("README.md", "LICENSE", None),
        ("docs/README.md", "https://example.com/a", "https://example.com/a"),
        ("docs/README.md", "#all-tasks", "#all-tasks"),
    ],
)
def test_a_link_leads_to_the_same_page_on_the_site(page: str, link: str, wanted: str | None) -> None:
    assert stage._link(page, link, stage.pages()) == wanted
    if wanted is not None and "://" not in wanted and not wanted.startswith("#"):
        place = posixpath.normpath(
            posixpath.join(posixpath.dirname(stage.placed(page) or ""), wanted.partition("#")[0])
        )
        assert place in stage.pages().values()

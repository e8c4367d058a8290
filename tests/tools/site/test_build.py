"""The website is built without warnings, loads nothing from other hosts, and is searchable and readable on a phone."""

import functools
import json
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest

from tests.slipway.report import browser
from tools import scanners
from tools.lock import SITE
from tools.site import stage
from tools.site.__main__ import build

pytestmark = pytest.mark.skipif(
    scanners.find("mkdocs", SITE) is None, reason="no MkDocs here: `make scanners` or `make site` installs it"
)
CHROMIUM: Final = browser.find()
PAGES: Final = ("index.html", "settings.html", "guides/operate.html", "quickstarts/vllm.html", "policies.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    assert build(directory) == 0
    return directory / "html"


def test_every_page_has_a_file(site: Path) -> None:
    for place in stage.pages().values():
        path = site / place
        if path.suffix == ".md":
            path = path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html")
        assert path.is_file(), place


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    found = {
        match
        for page in site.rglob("*.html")
        for match in re.findall(
            r"<(?:script|img|iframe|link|source)\b[^>]*?(?:src|href)=\"?(https?://[^\" >]+)", page.read_text()
        )
    }
    assert found == set()
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?https?://|@import", sheet.read_text())


@pytest.mark.parametrize(
    "words", ["recover from a failed up", "suppress a finding", "change a mig layout", "quickstarts"]
)
def test_the_search_index_has_what_readers_did_not_find(site: Path, words: str) -> None:
    titles = [
        re.sub(r"<[^>]+>", "", entry["title"]).lower()
        for entry in json.loads((site / "search/search_index.json").read_text())["docs"]
    ]
    assert any(words in one for one in titles)


@pytest.mark.parametrize(
    ("link", "code"), [("b.md#there", 0), ("b.md#elsewhere", 1), ("c.md", 1)], ids=["alive", "no heading", "no page"]
)
def test_a_dead_link_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str, code: int) -> None:
    def two_pages(build: Path) -> Path:
        (build / "pages").mkdir()
        (build / "pages" / "README.md").write_text(f"# A\n\n[a link]({link})\n")
        (build / "pages" / "b.md").write_text("# B\n\n## There\n")
        config = build / "mkdocs.yml"
        before, _, _ = stage.CONFIG.read_text().partition("\nnav:")
        config.write_text(f"{before}\nnav: [README.md, b.md]\n")
        return config

    monkeypatch.setattr("tools.site.__main__.stage", two_pages)
    assert build(tmp_path) == code


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


class _Address(str):
    """What `Tab.open` takes for a page: here an address instead of a file."""

    def as_uri(self) -> str:
        return self


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site on the loopback interface: its search needs a server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH: `make browser` installs it on Debian and Ubuntu")
def test_pages_fit_a_phone_and_the_search_finds(address: str) -> None:
    assert CHROMIUM is not None
    with browser.browser(CHROMIUM) as tab:
        for width, dark in ((1280, False), (360, True)):
            tab.size(width, dark=dark)
            for page in PAGES:
                tab.open(_Address(address + page))  # type: ignore[arg-type]
                assert tab.ask("document.documentElement.scrollWidth - innerWidth") <= 0, (page, width)
                assert tab.ask(BROKEN) == [], (page, width)
        tab.size(1280)
        tab.open(_Address(f"{address}index.html?q=suppress+a+finding"))  # type: ignore[arg-type]
        found = tab.ask(FOUND)
        assert any("operate.html" in one and one.endswith("#suppress-a-finding") for one in found), found
        assert tab.complaints == []


BROKEN: Final = """[...document.querySelectorAll("td:first-child code")]
  .filter((one) => !/[\\s/-]/.test(one.textContent) && one.getClientRects().length > 1).map((one) => one.textContent)"""
"""Words in the first column of tables, keys and options, that are broken over two lines."""
FOUND: Final = """new Promise((resolve) => {
  const end = Date.now() + 20000;
  const look = () => {
    const links = [...document.querySelectorAll(".md-search-result__link")].map((one) => one.href);
    links.length || Date.now() > end ? resolve(links) : setTimeout(look, 100);
  };
  look();
})"""

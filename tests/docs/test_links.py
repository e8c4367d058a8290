"""Links of the pages have existing targets, and an index links every page."""

from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.pages import ROOT, anchors, links, pages

INDEX = ROOT / "docs" / "README.md"


def targets(page: Path) -> list[tuple[str, Path, str]]:
    """The relative links of a page: as written, the file, and the heading."""
    relative = []
    for link in links(page.read_text(encoding="utf-8")):
        if "://" not in link and not link.startswith("mailto:"):
            path, _, heading = link.partition("#")
            relative.append((link, (page.parent / unquote(path)).resolve() if path else page, heading))
    return relative


def test_every_relative_link_has_an_existing_file() -> None:
    dead = [
        f"{page.relative_to(ROOT)}: {link}" for page in pages() for link, file, _ in targets(page) if not file.exists()
    ]
    assert dead == []


def test_every_link_to_a_heading_has_an_existing_heading() -> None:
    dead = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in pages()
        for link, file, heading in targets(page)
        if heading and file.is_file() and heading not in anchors(file.read_text(encoding="utf-8"))
    ]
    assert dead == []


def test_every_page_below_docs_is_linked_from_an_index() -> None:
    reached: set[Path] = set()
    ahead = [INDEX]
    while ahead:
        page = ahead.pop()
        reached.add(page)
        # Only links of an index count: readers find links inside other pages only by chance.
        if page.name == "README.md":
            ahead += [file for _, file, _ in targets(page) if file.suffix == ".md" and file not in reached]
    below = {page for page in pages() if page.is_relative_to(ROOT / "docs")}
    assert sorted(str(page.relative_to(ROOT)) for page in below - reached) == []


@pytest.mark.parametrize("folder", ["runbooks", "adr", "notes"])
def test_an_index_of_runbooks_decisions_and_notes_is_complete(folder: str) -> None:
    index = ROOT / "docs" / folder / "README.md"
    listed = {file for _, file, _ in targets(index)}
    assert sorted(page.name for page in index.parent.glob("*.md") if page not in listed | {index}) == []

"""Recognition of links, headings and code, and the language of each block of code."""

from tests.docs.pages import ROOT, anchors, code, links, pages, unlabelled

PAGE = """\
# The `slipway` command, and [more](other.md)

See [one](a.md), `[not](this.md)` and [a link
over two lines](b.md#part).

    [nor](this.md)

```yaml
# no heading
key: [value](nor-this.md)
```

- an item

## What is there

## What is there
"""


def test_links_outside_code_are_found() -> None:
    assert list(links(PAGE)) == ["other.md", "a.md", "b.md#part"]


def test_headings_become_the_anchors_that_github_generates() -> None:
    assert anchors(PAGE) == {"the-slipway-command-and-more", "what-is-there", "what-is-there-1"}


def test_code_includes_blocks_and_spans() -> None:
    assert set(code(PAGE)) >= {"slipway", "[not](this.md)", "[nor](this.md)", "key: [value](nor-this.md)"}


def test_each_block_of_code_names_its_language() -> None:
    found = {page.relative_to(ROOT): list(unlabelled(page.read_text(encoding="utf-8"))) for page in pages()}
    assert {page: lines for page, lines in found.items() if lines} == {}


def test_a_block_without_a_language_is_found() -> None:
    assert list(unlabelled(f"{PAGE}\n```\nplain\n```\n")) == ["    [nor](this.md)", "```"]

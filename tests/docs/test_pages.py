"""Recognition of links, headings and code."""

from __future__ import annotations

from tests.docs.pages import anchors, code, links

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

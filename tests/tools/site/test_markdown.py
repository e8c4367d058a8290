"""Pages as GitHub renders them become pages as Python-Markdown renders them."""

import pytest

from tools.site.markdown import rewrite, title


def link(target: str) -> str | None:
    """As on a site that has all pages but those in `gone`."""
    return None if target.startswith("gone") else f"new/{target}"


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("See [one](a.md) and [two](b.md#part).\n", "See [one](new/a.md) and [two](new/b.md#part).\n"),
        ("A [link\nover lines](a.md).\n", "A [link\nover lines](new/a.md).\n"),
        ("[`code` in it](a.md)\n", "[`code` in it](new/a.md)\n"),
        ("![a picture](a.svg)\n", "![a picture](new/a.svg)\n"),
        ("The [file](gone.py) is there.\n", "The file is there.\n"),
        ("`[not](a.md)`\n", "`[not](a.md)`\n"),
        ("text\n\n    [nor](a.md)\n", "text\n\n    [nor](a.md)\n"),
        (
            "```yaml\nkey: [nor](a.md)\n\nmore: [nor](a.md)\n```\n",
            "```yaml\nkey: [nor](a.md)\n\nmore: [nor](a.md)\n```\n",
        ),
        ("| `up\\|preview` | [one](a.md) |\n", "| `up|preview` | [one](new/a.md) |\n"),
    ],
)
def test_links_change_outside_of_code(page: str, wanted: str) -> None:
    assert rewrite(page, link) == wanted


def test_the_contents_of_items_are_indented_by_four() -> None:
    page = """\
1. One
   continues
2. Two:

       code

   - inside
     continues
10. Ten

    more

text

    code
"""
    wanted = """\
1. One
    continues
2. Two:

        code

    - inside
        continues
10. Ten

    more

text

    code
"""
    assert rewrite(page, link) == wanted


def test_dashes_in_code_begin_no_list() -> None:
    page = "text:\n\n    - not an item\n      of a list\n\n- an item\n"
    assert rewrite(page, link) == page


def test_the_title_is_the_first_heading_without_code() -> None:
    assert title("<!-- x -->\n# The `slipway` command\n\n## More\n") == "The slipway command"

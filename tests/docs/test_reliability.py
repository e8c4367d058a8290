"""Every test that the page on reliability names exists, so that no promise outlives its test."""

import re
from typing import Final

from tests.docs.pages import ROOT

NAMED: Final = re.compile(r"\[`(tests/[\w/]+\.py)::(test_\w+)`\]\(\.\./\1\)")
PAGE: Final = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


def lost(page: str) -> list[tuple[str, str]]:
    """Tests that a page names, with the files that should have them."""
    return [(path, name) for path, name in NAMED.findall(page) if f"\ndef {name}(" not in (ROOT / path).read_text()]


def test_every_test_on_the_page_exists() -> None:
    assert PAGE.count("::test_") == len(NAMED.findall(PAGE)) > 40
    assert lost(PAGE) == []


def test_a_test_that_is_gone_is_named() -> None:
    here = "tests/docs/test_reliability.py"
    assert lost(f"[`{here}::test_x`](../{here})") == [(here, "test_x")]

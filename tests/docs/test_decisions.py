"""Architecture decisions have a unique number, a status and a date."""

import datetime
import re
from pathlib import Path
from typing import Final

import pytest

from tests.docs.pages import ROOT

FOLDER: Final = ROOT / "docs" / "adr"
DECISIONS: Final = sorted(FOLDER.glob("[0-9]*.md"))
NOTES: Final = sorted(path for path in (ROOT / "docs" / "notes").glob("*.md") if path.name != "README.md")
HEAD: Final = re.compile(
    r"# (?P<number>\d{4}) \S.*\n\n"
    r"- Status: (?:Accepted|Superseded by \[(?P<by>\d{4})\]\((?P<file>\S+\.md)\))\n"
    r"- Date: (?P<date>\d{4}-\d{2}-\d{2})\n\n\S"
)
NOTE: Final = re.compile(r"# \D.*\n\n- Date: (?P<date>\d{4}-\d{2}-\d{2})\n\n\S")


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_number_status_and_date_below_its_title(page: Path) -> None:
    head = HEAD.match(page.read_text(encoding="utf-8"))
    assert head, f"{page.name} does not begin with `# NUMBER Title`, `- Status: Accepted` and `- Date: YYYY-MM-DD`"
    assert page.name.startswith(f"{head['number']}-")
    datetime.date.fromisoformat(head["date"])
    if head["by"]:
        assert head["file"].startswith(f"{head['by']}-")
        assert head["by"] > head["number"]


@pytest.mark.parametrize("page", NOTES, ids=lambda page: page.stem)
def test_a_note_has_a_date_and_no_number(page: Path) -> None:
    head = NOTE.match(page.read_text(encoding="utf-8"))
    assert head, f"{page.name} does not begin with `# Title` without a number and `- Date: YYYY-MM-DD`"
    datetime.date.fromisoformat(head["date"])


def test_no_number_is_used_twice() -> None:
    numbers = [page.name[:4] for page in DECISIONS]
    assert len(numbers) == len(set(numbers))
    moved = re.findall(r"\b\d{4}\b", (FOLDER / "README.md").read_text(encoding="utf-8").partition("\n|")[0])
    assert moved
    assert set(moved) & set(numbers) == set(), "a number of the notes is used again"


def test_a_page_without_status_date_or_number_is_refused() -> None:
    whole = "# 0001 Title\n\n- Status: Accepted\n- Date: 2026-11-21\n\nText."
    assert HEAD.match(whole)
    assert HEAD.match(whole.replace("Accepted", "Superseded by [0002](0002-other.md)"))
    for part in ("- Status: Accepted\n", "- Date: 2026-11-21\n", "0001 "):
        assert not HEAD.match(whole.replace(part, ""))

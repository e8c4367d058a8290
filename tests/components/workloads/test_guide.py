"""The guide quotes refusals as they are."""

from __future__ import annotations

import re

import pytest

from components.workloads import WorkloadRefused
from tests.components.workloads.examples import ROOT
from tests.components.workloads.test_refusals import REFUSED

_SECTION = (ROOT / "docs/guides/workloads.md").read_text(encoding="utf-8").partition("## Classic mistakes")[2]
ROWS = dict(re.findall(r"^\| (?!Mistake|-)(.+?) \| (.+) \|$", _SECTION.partition("\n## ")[0], re.MULTILINE))


def test_it_tells_of_two_dozen_mistakes() -> None:
    assert len(ROWS) >= 24


@pytest.mark.parametrize("mistake", ROWS)
def test_what_it_quotes_is_what_is_said(mistake: str) -> None:
    with pytest.raises(WorkloadRefused) as refused:
        REFUSED[mistake][0]()
    assert ROWS[mistake] in map(str, refused.value.problems)

"""The guide quotes the real error messages."""

import re

import pytest

from components.workloads import WorkloadRefused
from tests.components.workloads import test_ray
from tests.components.workloads.examples import ROOT
from tests.components.workloads.test_refusals import REFUSED

_SECTION = (ROOT / "docs/guides/workloads.md").read_text(encoding="utf-8").partition("## Classic mistakes")[2]
MISTAKES = dict(re.findall(r"^\| (?!Mistake|-)(.+?) \| (.+) \|$", _SECTION.partition("\n## ")[0], re.MULTILINE))


def test_it_lists_at_least_24_mistakes() -> None:
    assert len(MISTAKES) >= 24


@pytest.mark.parametrize("mistake", MISTAKES)
def test_it_quotes_the_real_message(mistake: str) -> None:
    with pytest.raises(WorkloadRefused) as refused:
        {**test_ray.REFUSED, **REFUSED}[mistake][0]()
    assert MISTAKES[mistake] in map(str, refused.value.problems)

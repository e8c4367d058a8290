"""No test gives another process or thread less time than a busy machine needs."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.support.cases import beside

CASES: Final = beside(__file__)

ROOT: Final = Path(__file__).parent
ENOUGH: Final = 60.0
PAUSE: Final = 2.0
"""Shorter ones are pauses of a loop, or what has to be exceeded."""
LIMIT: Final = re.compile(
    r"\buntil\(.*, (\d+(?:\.\d+)?), [\w\"]"
    r"|\.(?:wait|join|result|settimeout)\((\d+(?:\.\d+)?)\)"
    r"|\b(?:timeout|deadline|patience)=(\d+(?:\.\d+)?)\b(?! \*)"
    r"|monotonic\(\) \+ (\d+(?:\.\d+)?)\b"
    r"|^SECONDS(?:: Final)? = (\d+(?:\.\d+)?)$",
    re.MULTILINE,
)


def short(text: str) -> list[str]:
    """What limits a wait by a number of seconds that is too small."""
    found = ((match.group(), float(next(filter(None, match.groups())))) for match in LIMIT.finditer(text))
    return [what for what, seconds in found if PAUSE <= seconds < ENOUGH]


@pytest.mark.parametrize(("text", "count"), CASES["a number that limits a wait is found"])
def test_a_number_that_limits_a_wait_is_found(text: str, count: int) -> None:
    assert len(short(text)) == count


def test_every_wait_is_long_enough() -> None:
    files = [path for path in ROOT.rglob("*.py") if path.parent.name != "bench" and path != Path(__file__)]
    assert {str(path): found for path in files if (found := short(path.read_text(encoding="utf-8")))} == {}, (
        "use SECONDS of tests/support/patience.py: a wait ends as soon as its condition holds"
    )

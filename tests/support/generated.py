"""Generated files, and generated parts of pages: how a test compares them, and how a generator writes a part.

`make generate` writes all of them. A test that finds one out of date fails with the difference, and its last line is
the command that writes that one.
"""

import difflib
import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
SETTINGS: Final = "make schema"
POLICIES: Final = "python -m policies.generate"
ADMISSION: Final = "python -m tests.components.admission"
FIT: Final = "python -m tests.slipway.fit"
QUICKSTARTS: Final = "python -m tests.slipway.quickstarts"
REFERENCE: Final = "python -m tests.docs"
PICTURES: Final = "python -m tools.site.pictures"
FIGURES: Final = "python -m tools.figures"
CATALOG: Final = "python tools/refresh_catalog.py"
COMMANDS: Final = (SETTINGS, POLICIES, ADMISSION, FIT, QUICKSTARTS, PICTURES, FIGURES, REFERENCE, CATALOG)
"""What `make generate` runs."""
CHARTS: Final = "slipway catalog check --record"
"""Not among them: it needs the charts (`--dir` or SLIPWAY_CHARTS; `slipway catalog pull` gets them)."""
_LINES: Final = 20
"""Of a difference, as many as show what kind it is."""


def check(path: Path, wanted: str, command: str) -> None:
    """Fail unless a file is what its generator makes of it.

    Args:
        path: The committed file.
        wanted: What the generator makes.
        command: What writes the file.
    """
    found = path.read_text(encoding="utf-8") if path.is_file() else ""
    if found == wanted:
        return
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
    names = (f"{name} as it is", "as it should be")
    difference = difflib.unified_diff(found.splitlines(), wanted.splitlines(), *names, n=0, lineterm="")
    lines = [line[:200] for line in difference]
    more = [f"... and {len(lines) - _LINES} lines more"] if len(lines) > _LINES else []
    text = "\n".join([*lines[:_LINES], *more])
    way = f"run `make generate`, or for this file alone `{command}`"
    pytest.fail(f"{name} is out of date:\n{text}\n{way}", pytrace=False)


def check_part(page: Path, name: str, wanted: str, command: str) -> None:
    """Fail unless a part of a page is what its generator makes of it."""
    check(page, with_part(page.read_text(encoding="utf-8"), name, wanted, command), command)


def write_part(page: Path, name: str, text: str, command: str) -> None:
    """Write a part of a page anew."""
    page.write_text(with_part(page.read_text(encoding="utf-8"), name, text, command), encoding="utf-8")


def with_part(page: str, name: str, text: str, command: str) -> str:
    """A page's text with another text between the two comments that mark a generated part.

    Raises:
        ValueError: The page does not have the two comments once.
    """
    begin, end = f"<!-- {name}: written by `{command}` -->", f"<!-- end of {name} -->"
    whole = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if len(whole.findall(page)) != 1:
        msg = f"the page must have {begin} and {end} once, in this order"
        raise ValueError(msg)
    return whole.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", page)

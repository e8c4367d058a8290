"""Phrases that this project does not use. Single words are codespell's (`make check`, tools/words.txt)."""

import re
import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
INSTEAD: Final = {
    r"at (?:its|their) least": "minimum, or floor for cost",
    r"at (?:its|their) most": "maximum, or ceiling for cost",
    r"by right(?!-)": "guaranteed",
}
NOT_READ: Final = (".lock", ".sum", ".mod", "tests/test_words.py")


def phrases(text: str) -> list[str]:
    """Phrases of a text, each with what to write instead."""
    flat = re.sub(r"\s+", " ", text)
    return [
        f"{found[0]!r}: write {instead}"
        for pattern, instead in INSTEAD.items()
        for found in re.finditer(rf"\b{pattern}\b", flat, re.IGNORECASE)
    ]


def test_a_phrase_is_found_across_lines_and_right_sizing_is_none() -> None:
    assert phrases("every pool at\n    its least") == ["'at its least': write minimum, or floor for cost"]
    assert phrases("found by right-sizing, at least once") == []


def test_no_file_has_one() -> None:
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    read = [ROOT / name for name in names if name and not name.endswith(NOT_READ)]
    found = {str(path.relative_to(ROOT)): phrases(path.read_text(encoding="utf-8", errors="ignore")) for path in read}
    assert {path: texts for path, texts in found.items() if texts} == {}

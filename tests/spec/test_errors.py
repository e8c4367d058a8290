"""What others wrote is shown, and not obeyed."""

import pytest

from spec.errors import LINES, visible
from spec.settings.problems import Problem

CODES = [
    *range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x61C, 0x200B, 0x2028, 0xFEFF,
    0xE0041, 0xDC80,
]  # fmt: skip


@pytest.mark.parametrize("code", CODES)
def test_a_character_that_is_obeyed_hidden_or_turns_text_is_shown_as_an_escape(code: int) -> None:
    text = visible(f"a{chr(code)}b")
    assert text.isprintable()
    assert text.startswith("a\\")
    assert text.encode()


@pytest.mark.parametrize("text", ["", "pool-a100", "Größe, 数据, →, …, \u00a0, é"])
def test_other_text_stays(text: str) -> None:
    assert visible(text) == text
    assert visible(f"{text}\n\t", LINES) == f"{text}\n\t"


def test_a_problem_is_one_line_whatever_a_key_is() -> None:
    assert str(Problem("a\n  - fine\x1b[2K", "r", None, "F.")) == "a\\n  - fine\\x1b[2K: r (given: nothing). F."

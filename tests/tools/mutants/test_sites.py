"""Places that stay as they are."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from tools.mutants.source import candidates

PATH = PurePosixPath("infra/module.py")


def replaced(source: str) -> list[str]:
    """The pieces of a source that some mutant replaces."""
    return [source[candidate.change.start : candidate.change.end] for candidate in candidates(PATH, source)]


@pytest.mark.parametrize(
    "source",
    [
        '"""Docstring"""',
        'VALUE: Final = a\n"""Docstring"""',
        "a: Literal['b', 'c']",
        "def f(a: 'A' = b, *c: tuple[int, Literal[2]]) -> Literal[1]: return a",
        "Name = Literal['b']",
        "T = TypeVar('T', bound='B')",
        "a = typing.cast('B', c)",
        "if TYPE_CHECKING:\n    a = 1",
        "if __name__ == '__main__':\n    f()",
        "__all__ = ['a', 'b']",
        "@dataclass(frozen=True)\nclass A: pass",
        "msg = f'{a + 1} is wrong'",
        "log.info(a)",
        "time.sleep(5)",
    ],
)
def test_nothing_is_changed_where_no_test_could_notice(source: str) -> None:
    assert replaced(source) == []


def test_of_a_raised_exception_only_the_raise_is_changed() -> None:
    assert replaced("raise Error('code', limit=5)") == ["raise Error('code', limit=5)"]


def test_an_idle_keyword_is_neither_changed_nor_left_out() -> None:
    assert set(replaced("a = f(b, encoding='utf-8', help='c', d=1)")) == {"d=1", "1"}


def test_a_call_in_an_annotation_is_changed_as_it_runs() -> None:
    source = "a: Annotated[int, Field(ge=1)]"
    assert set(replaced(source)) == {"1", "ge=1"}


def test_what_is_below_a_guard_for_another_thing_is_changed() -> None:
    assert "1" in replaced("if TYPES:\n    f(1)")

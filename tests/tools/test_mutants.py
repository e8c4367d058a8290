"""Mutants: what is changed and what is left, and a whole run on a small project."""

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from tools.mutants.__main__ import main
from tools.mutants.source import candidates, made

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


# What becomes of a piece of source, operator by operator.


def changed(source: str, operator: str) -> set[str]:
    """The sources that an operator makes of one."""
    found = [candidate for candidate in candidates(PATH, source) if candidate.change.operator == operator]
    return {mutant.after for candidate in found if (mutant := made(candidate, source))}


@pytest.mark.parametrize(
    ("operator", "source", "mutants"),
    [
        ("comparison", "a < b <= c", {"a <= b <= c", "a < b < c"}),
        ("comparison", "(a) == (b)", {"(a) != (b)"}),
        ("comparison", "a is not None", {"a is None"}),
        ("comparison", "a not in b", {"a in b"}),
        ("comparison", "island in isles", {"island not in isles"}),
        ("boolean", "a and b and c", {"a or b and c", "a and b or c"}),
        ("boolean", "order or android", {"order and android"}),
        ("boolean", "not (a or b)", {"(a or b)", "not (a and b)"}),
        ("arithmetic", "a + b * c", {"a - b * c", "a + b / c"}),
        ("arithmetic", "a | b << c", {"a & b << c", "a | b >> c"}),
        ("arithmetic", "folder / 'name'", set()),
        ("arithmetic", "'%s' % name", {"'%s' // name"}),
        ("number", "f(5)", {"f(6)", "f(4)"}),
        ("number", "f(0)", {"f(1)"}),
        ("number", "f(1.5)", {"f(2.5)", "f(0.5)"}),
        ("number", "f(True)", set()),
        ("flag", "f(True)", {"f(False)"}),
        ("string", "f('Failed')", {'f("")'}),
        ("string", "f('two words')", set()),
        ("string", "f('')", set()),
        ("function", "min(a, b)", {"max(a, b)"}),
        ("function", "x.min(a) + any(b)", {"x.min(a) + all(b)"}),
        ("condition", "if a:\n    f()", {"if True:\n    f()", "if False:\n    f()"}),
        ("condition", "b if a else c", {"b if True else c", "b if False else c"}),
        ("condition", "[a for a in b if c if d]", {"[a for a in b if True if d]", "[a for a in b if c if True]"}),
        ("element", "[a, *b, c]", {"[*b, c]", "[a, c]", "[a, *b, ]"}),
        ("element", "[a]", {"[]"}),
        ("element", "{'k': a, **b}", {"{**b}", "{'k': a, }"}),
        ("element", "ENDED = frozenset({a, b})", {"ENDED = frozenset({b})", "ENDED = frozenset({a, })"}),
        ("element", "NAMES = (a, b)", {"NAMES = (b)", "NAMES = (a, )"}),
        ("element", "a in (b, c)", {"a in (c)", "a in (b, )"}),
        ("element", "for a, b in c:\n    f()", set()),
        ("element", "[(a), b]", {"[(a), ]"}),
        ("argument", "f(a, b=1, **c)", {"f(a, **c)", "f(a, b=1, )"}),
        ("argument", "f(\n    a=1,  # why\n    b=2,\n)", {"f(\n    b=2,\n)", "f(\n    a=1,  # why\n    )"}),
        ("statement", "f()", {"pass"}),
        ("statement", "a[0] = b", {"pass"}),
        ("statement", "a += 1", {"pass"}),
        ("statement", "raise f(a)", {"pass"}),
        ("statement", "def f():\n    yield 1", {"def f():\n    pass"}),
        ("statement", "for a in b:\n    continue", {"for a in b:\n    pass"}),
        ("statement", "a = f()", set()),
    ],
)
def test_an_operator_makes_these_mutants_and_no_others(operator: str, source: str, mutants: set[str]) -> None:
    assert changed(source, operator) == mutants


# A whole run.


FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\nmarkers = ["slow"]\n',
    "infra/__init__.py": "",
    # The name of an installed package: the copy's is the one that must be imported.
    "infra/limits.py": "def fits(used, bound):\n    return used <= bound\n\ndef both(a, b):\n    return a + b\n",
    "tests/infra/test_limits.py": "from infra.limits import both, fits\n\ndef test_edge():\n    assert fits(5, 5)\n",
}


def test_the_rate_is_that_of_the_tests_and_the_tree_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert main(["--tree", str(tmp_path), "--seed", "1", "--count", "100"]) == 1
    printed = capsys.readouterr().out
    assert "1 of 2 mutants killed: 50.00%" in printed
    assert "-    return a + b\n+    return a - b\n" in printed
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before

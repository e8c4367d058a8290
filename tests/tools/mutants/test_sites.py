"""Places that stay as they are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

from tests.tools.mutants.projects import project
from tools.mutants import report
from tools.mutants.operators import OPERATORS
from tools.mutants.sample import sample, sources
from tools.mutants.source import Mutant, candidates, made
from tools.mutants.verdict import Result, Verdict

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


def test_every_operator_names_its_changes_by_its_own_name() -> None:
    source = "if not a < 1 and min(b, c=[True, 'd']) * 2:\n    raise e\n"
    names = {candidate.change.operator for candidate in candidates(PATH, source)}
    assert names == {operator.__name__ for operator in OPERATORS}


def test_a_place_is_found_behind_characters_of_several_bytes() -> None:
    assert changed('a = "\u00fc\u20ac"; b = c < d', "comparison") == {'a = "\u00fc\u20ac"; b = c <= d'}


# The same seed draws the same mutants.


FOLDERS = ("missing", "infra", "slipway")
FUNCTION = "def f{n}(a, b):\n    return [a < {n} and min(a, b={n}) + 7, 'v{n}'] if not a else True\n"
MODULE = "".join(FUNCTION.format(n=n) for n in range(6))
STATEMENTS = "\n".join(f"f{n}()" for n in range(8))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path, {"infra/one.py": MODULE, "slipway/two.py": MODULE, "infra/three.py": STATEMENTS})


def drawn(root: Path, seed: int = 1, count: int = 44, within: str = "") -> list[Mutant]:
    return sample(root, sources(root, FOLDERS, within), seed, count)


def test_a_seed_draws_the_same_mutants_again_and_another_seed_others(root: Path) -> None:
    assert drawn(root) == drawn(root)
    assert drawn(root, seed=2) != drawn(root)


def test_each_operator_has_an_equal_share(root: Path) -> None:
    assert Counter(mutant.operator for mutant in drawn(root)) == dict.fromkeys((one.__name__ for one in OPERATORS), 4)


def test_a_change_of_one_file_leaves_the_mutants_of_the_others_as_they_are(root: Path) -> None:
    before = [mutant for mutant in drawn(root, count=1000) if "two" in mutant.place]
    of_few = {(mutant.place, mutant.after) for mutant in drawn(root) if "two" in mutant.place}
    (root / "infra" / "one.py").write_text(f"# A line more.\n{MODULE}", encoding="utf-8")
    assert [mutant for mutant in drawn(root, count=1000) if "two" in mutant.place] == before
    assert {(mutant.place, mutant.after) for mutant in drawn(root) if "two" in mutant.place} == of_few


def test_a_part_of_the_tree_can_be_named(root: Path) -> None:
    assert {str(mutant.path) for mutant in drawn(root, within="infra/o")} == {"infra/one.py"}


def test_where_there_are_fewer_mutants_all_are_drawn_and_each_once(root: Path) -> None:
    found = drawn(root, count=10_000)
    assert len({(mutant.path, mutant.after) for mutant in found}) == len(found) < 10_000


def test_a_mutant_says_where_it_is_and_what_it_changes(root: Path) -> None:
    (first, *_) = drawn(root, count=10_000, within="infra/three")
    assert first.place == "infra/three.py:1"
    assert first.diff == "--- infra/three.py\n+++ mutant\n@@ -1,2 +1,2 @@\n-f0()\n+pass\n f1()\n"


# The rate, and when it is too low.


MUTANT = Mutant(PurePosixPath("infra/a.py"), 1, "number", "a = 5\n", "a = 6\n")


def results(**counts: int) -> list[Result]:
    """So many results of each verdict."""
    return [Result(MUTANT, Verdict(name), "all", 1.5, "pytest's words") for name, n in counts.items() for _ in range(n)]


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ({"killed": 97, "survived": 3}, 0),
        ({"killed": 90, "timeout": 7, "survived": 3}, 0),
        ({"killed": 96, "survived": 4}, 1),
        ({"killed": 99, "error": 1}, 1),
        ({}, 1),
    ],
)
def test_too_few_killed_and_any_not_measured_fail(counts: dict[str, int], code: int) -> None:
    assert report.exit_code(results(**counts)) == code


def test_the_summary_has_the_rate_and_each_survivor_with_its_diff() -> None:
    text = report.summary(results(killed=2, timeout=1, survived=1))
    assert "3 of 4 mutants killed: 75.00%, minimum 97%" in text
    assert text.count("survived: infra/a.py:1 (number)") == 1
    assert "-a = 5\n+a = 6\n" in text
    assert "not measured" not in text


def test_the_summary_says_why_a_mutant_was_not_measured() -> None:
    text = report.summary(results(error=1))
    assert "error: infra/a.py:1 (number)\npytest's words" in text
    assert "1 of 1 mutants not measured" in text


def test_a_mutant_has_a_line() -> None:
    (result,) = results(killed=1)
    assert report.line(3, 60, result).split() == ["3/60", "killed", "all", "1.5", "s", "number", "infra/a.py:1"]


@pytest.mark.parametrize(("noticed", "measured", "low", "high"), [(81, 263, 0.2553, 0.3662), (0, 20, 0, 0.1611)])
def test_the_interval_is_wilsons(noticed: int, measured: int, low: float, high: float) -> None:
    # Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3.
    assert report.interval(noticed, measured) == pytest.approx((low, high), abs=0.00005)

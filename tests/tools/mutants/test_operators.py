"""What becomes of a piece of source, operator by operator."""

from pathlib import PurePosixPath

import pytest

from tools.mutants.operators import OPERATORS
from tools.mutants.source import candidates, made

PATH = PurePosixPath("infra/module.py")


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

"""Mutants: what is changed and what is left, and a whole run on a small project."""

import subprocess
from pathlib import Path, PurePosixPath
from typing import Final

import pytest

from tests.support.cases import beside
from tools.mutants.__main__ import main
from tools.mutants.source import candidates, made

CASES: Final = beside(__file__)

PATH = PurePosixPath("infra/module.py")


def replaced(source: str) -> list[str]:
    """The pieces of a source that some mutant replaces."""
    return [source[candidate.change.start : candidate.change.end] for candidate in candidates(PATH, source)]


@pytest.mark.parametrize("source", CASES["nothing is changed where no test could notice"])
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


@pytest.mark.parametrize(("operator", "source", "mutants"), CASES["an operator makes these mutants and no others"])
def test_an_operator_makes_these_mutants_and_no_others(operator: str, source: str, mutants: list[str]) -> None:
    assert changed(source, operator) == set(mutants)


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

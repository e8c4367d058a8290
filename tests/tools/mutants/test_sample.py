"""The same seed draws the same mutants."""

from collections import Counter
from pathlib import Path

import pytest

from tests.tools.mutants.projects import project
from tools.mutants.operators import OPERATORS
from tools.mutants.sample import sample, sources
from tools.mutants.source import Mutant

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

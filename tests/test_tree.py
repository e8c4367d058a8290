"""Rules that hold for the tree as a whole."""

import ast
import fnmatch
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
ENTRY_POINTS = ("conftest.py", "__init__.py", "__main__.py")
MAXIMUM_LINES = 600


def tracked(pattern: str) -> list[Path]:
    """The files of the tree that git knows or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", pattern]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def imported(path: Path) -> set[str]:
    """The modules, and the names within them, that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return names


def is_collected(path: Path) -> bool:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["python_files"]
    return any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns)


def holds_tests(path: Path) -> bool:
    return re.search(r"^\s*(async )?def test_", path.read_text(), re.MULTILINE) is not None


def test_pytest_collects_every_file_that_holds_tests_and_no_other() -> None:
    strange = [str(path.relative_to(ROOT)) for path in TESTS if is_collected(path) != holds_tests(path)]
    assert strange == []


def test_every_other_file_below_tests_is_used_by_one() -> None:
    by_name = {"tests.e2e.changes"}  # copied into the program of a checkout (tests/e2e/official.py)
    used = by_name.union(*(imported(path) for path in TESTS))
    others = [path for path in TESTS if not is_collected(path) and path.name not in ENTRY_POINTS]
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in others}
    assert modules - used == set()


@pytest.mark.parametrize("pattern", ["*.py", "*.sh"])
def test_no_source_file_is_too_long_to_be_read(pattern: str) -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in tracked(pattern)}
    assert {name: length for name, length in lengths.items() if length > MAXIMUM_LINES} == {}

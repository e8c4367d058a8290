"""Whole runs on small projects: copies, pytest, verdicts and the exit code."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from tests.support.patience import is_gone
from tests.tools.mutants.projects import project
from tools.mutants import copies
from tools.mutants.__main__ import main
from tools.mutants.source import Mutant, candidates, made
from tools.mutants.trial import Runner, StoppedError

# The name of an installed package: the copy's is the one that must be imported.
LIMITS = "def fits(used, bound):\n    return used <= bound\n\n\ndef half(number):\n    return number // 4\n"
EDGE = """
import subprocess, sys
from infra.limits import fits, half

def test_the_edge():
    assert fits(5, 5)

def test_a_process_of_its_own_imports_the_same():
    code = "from infra.limits import fits; print(fits(5, 5))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\\n"
"""
TESTED = {"infra/__init__.py": "", "infra/limits.py": LIMITS, "tests/infra/test_limits.py": EDGE}


def mutants() -> Iterator[Mutant]:
    path = PurePosixPath("infra/limits.py")
    return filter(None, (made(candidate, LIMITS) for candidate in candidates(path, LIMITS)))


def run(root: Path, *options: str) -> int:
    return main(["--tree", str(root), "--seed", "1", "--count", "100", *options])


def verdicts(printed: str) -> dict[str, set[str]]:
    """Operators by verdict."""
    found: dict[str, set[str]] = {}
    for line in printed.splitlines():
        if line.strip()[:1].isdigit() and "/" in line.split()[0]:
            words = line.split()
            found.setdefault(words[1], set()).add(words[-2])
    return found


def test_a_mutant_that_a_test_notices_is_killed_and_another_survives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project(tmp_path, TESTED)
    assert run(root) == 1
    printed = capsys.readouterr().out
    assert verdicts(printed) == {"killed": {"comparison"}, "survived": {"arithmetic", "number"}}
    assert "-    return number // 4\n+    return number // 5\n" in printed
    assert "1 of 4 mutants killed: 25.00%" in printed


def test_the_work_tree_stays_as_it_is_and_a_file_that_git_does_not_know_is_mutated_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project(tmp_path, TESTED)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    run(root, "--count", "1")
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert "1/1" in capsys.readouterr().out


def test_the_run_passes_where_all_mutants_are_killed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = f"{EDGE}\ndef test_half():\n    assert [half(n) for n in (0, 3, 4, 5, 8, 12)] == [0, 0, 1, 1, 2, 3]\n"
    assert run(project(tmp_path, {**TESTED, "tests/infra/test_limits.py": more})) == 0
    assert "4 of 4 mutants killed: 100.00%" in capsys.readouterr().out


def test_tests_that_fail_without_a_mutant_measure_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = f"{EDGE}\ndef test_broken():\n    assert half(8) == 4\n"
    assert run(project(tmp_path, {**TESTED, "tests/infra/test_limits.py": broken})) == 1
    printed = capsys.readouterr().out
    assert set(verdicts(printed)) == {"error"}
    assert "do not pass without the mutant" in printed
    assert "4 of 4 mutants not measured" in printed


def test_a_folder_that_is_no_repository_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "limits.py").write_text(LIMITS, encoding="utf-8")
    assert run(tmp_path) == 2
    assert "Run it in a Git repository." in capsys.readouterr().err


SLEEPS = """
import os, subprocess, sys, time
def test_that_never_ends():
    code = "import time; time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    print("child", child.pid, flush=True)
    open("new", "w").write(str(child.pid))
    os.rename("new", "child")
    time.sleep(600)
"""


def test_a_run_that_does_not_end_is_ended_with_what_it_has_started(tmp_path: Path) -> None:
    copy = copies.make(project(tmp_path / "tree", {"tests/test_sleeps.py": SLEEPS}), tmp_path, "copy")
    for limit in (3, 60):
        trial = Runner().run(copy, ["tests"], limit=limit)
        assert trial.code is None
        assert trial.output == f"no end in {limit} s"
        # On a busy machine it may not have come to its child.
        if (copy.root / "child").exists():
            break
    assert is_gone(int((copy.root / "child").read_text()))


def test_a_runner_that_was_stopped_starts_nothing(tmp_path: Path) -> None:
    runner = Runner()
    runner.stop()
    with pytest.raises(StoppedError):
        runner.run(copies.Copy(tmp_path, tmp_path / "home"), ["tests"], limit=3)


def test_a_copy_is_as_before_after_a_mutant_and_its_byte_code_is_gone(tmp_path: Path) -> None:
    copy = copies.make(project(tmp_path / "tree", TESTED), tmp_path, "copy")
    path = copy.root / "infra" / "limits.py"
    with copy.changed(next(mutants())):
        assert path.read_text(encoding="utf-8") != LIMITS
        (copy.root / "left").write_text("by a mutant", encoding="utf-8")
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(path)], check=True)
    assert path.read_text(encoding="utf-8") == LIMITS
    assert not (copy.root / "left").exists()
    assert not list(path.parent.rglob("limits.*.pyc"))


def test_packages_from_elsewhere_are_an_error(tmp_path: Path) -> None:
    copy = copies.make(project(tmp_path / "tree", TESTED), tmp_path, "copy")
    copies.require_own_imports(copy, ["infra"])
    with pytest.raises(copies.CopyError, match=r"imported from elsewhere: .*policies"):
        copies.require_own_imports(copy, ["infra", "policies"])

"""What a skip is where SLIPWAY_REQUIRE_ALL=1, in runs of pytest of their own."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Final

import pytest

from tests import allowed_skips
from tests.allowed_skips import ALLOWED, Allowed, allowed
from tests.required import LIST, VARIABLE
from tests.support.cases import beside

CASES: Final = beside(__file__)
ROOT: Final = Path(__file__).resolve().parents[1]
SAMPLES: Final = CASES["tests that are skipped"]
GOOD: Final = """
    def test_passes(): pass

    @pytest.mark.xfail(strict=True)
    def test_is_expected_to_fail(): assert False

    def test_may_be_skipped(): pytest.skip('SLIPWAY_SHARED names no directory of shared samples')
    """


def run(folder: Path, sources: dict[str, str], value: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest with the plugin alone, on test files below `folder`."""
    (folder / "tests").mkdir()
    for name, source in sources.items():
        (folder / "tests" / name).write_text("import pytest\n" + textwrap.dedent(source))
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib --continue-on-collection-errors\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.required", "-p", "no:cacheprovider", *options]
    # Where CI is set, pytest repeats every message in its summary.
    outside = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_") and name != "CI"}
    return subprocess.run(
        [*command, "-c", folder / "pytest.ini", folder],
        cwd=ROOT, env={**outside, VARIABLE: value}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_skip_fails_whatever_way_it_is_made_unless_it_is_on_the_list(tmp_path: Path) -> None:
    done = run(tmp_path, {"test_good.py": GOOD, **SAMPLES}, "1", "-n", "2")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    summary = done.stdout.partition("short test summary info")[2]
    assert set(re.findall(r"^(?:FAILED|ERROR) \S*?(test_\w+\.py)", summary, re.MULTILINE)) == set(SAMPLES)
    assert done.stdout.count(f"skipped where {VARIABLE}=1: ") == len(SAMPLES)
    assert done.stdout.count(LIST) == len(SAMPLES)
    assert "1 passed, 1 skipped, 1 xfailed" in done.stdout


def test_an_entry_allows_its_file_and_its_reason_on_its_machines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    possible = True
    entry = Allowed("tests/slipway/cli/*", "no zsh", "why", lambda: possible)
    monkeypatch.setattr(allowed_skips, "ALLOWED", (entry,))
    assert allowed("tests/slipway/cli/test_commands.py", "no zsh here") is entry
    assert allowed("tests/e2e/test_shell.py", "no zsh here") is None
    assert allowed("tests/slipway/cli/test_commands.py", "no bash here") is None
    possible = False
    assert allowed("tests/slipway/cli/test_commands.py", "no zsh here") is None


@pytest.mark.parametrize("entry", ALLOWED, ids=lambda entry: entry.reason)
def test_an_entry_is_about_tests_that_may_be_skipped(entry: Allowed) -> None:
    files = [path for path in ROOT.glob(entry.tests.replace("/*", "/**/*.py")) if "skip" in path.read_text()]
    assert files
    assert len(entry.why) > 30


def test_ci_requires_all() -> None:
    for file in (".ci/run", ".github/workflows/test.yml"):
        assert VARIABLE in (ROOT / file).read_text(), file

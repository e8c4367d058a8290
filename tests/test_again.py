"""What `make test` runs once more: a few tests that failed, in runs of pytest of their own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.again import FILE, MOST

ROOT: Final = Path(__file__).resolve().parents[1]
RACES: Final = """
    import pathlib, pytest
    won = pathlib.Path(__file__).with_suffix(".won")

    @pytest.fixture
    def server(): assert won.exists()
    @pytest.mark.xdist_group("servers")
    def test_fixture(server): pass
    @pytest.mark.parametrize("text", ["a b", "c@d", "[e]"])
    def test_text(text): assert won.exists() or text == "a b"
    def test_passes(): pass
    """


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest with the plugin alone."""
    outside = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_") and name != "CI"}
    options = ["-p", "tests.again", "-c", str(folder / "pytest.ini"), "--rootdir", str(folder)]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, *arguments],
        cwd=folder, env={**outside, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    (tmp_path / "test_races.py").write_text("\n".join(line.removeprefix("    ") for line in RACES.splitlines()))
    return tmp_path


@pytest.fixture
def again(folder: Path) -> Path:
    return folder / ".pytest_cache/d/slipway" / FILE


def test_what_failed_and_that_alone_runs_once_more(folder: Path, again: Path) -> None:
    assert run(folder, "-n", "2", "--dist", "loadgroup").returncode == pytest.ExitCode.TESTS_FAILED
    assert run(folder, f"@{again}").returncode == pytest.ExitCode.TESTS_FAILED
    (folder / "test_races.won").touch()
    done = run(folder, f"@{again}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("3 passed")
    assert again.read_text() == ""


def test_many_failures_are_no_race(folder: Path, again: Path) -> None:
    (folder / "test_many.py").write_text("".join(f"def test_{number}(): assert 0\n" for number in range(MOST)))
    assert run(folder).returncode == pytest.ExitCode.TESTS_FAILED
    assert again.read_text() == ""

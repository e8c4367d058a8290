"""A module that renders or starts a process while it is imported is not collected; in a run of pytest of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import guards
from tests.tiers import ROOT

RUN = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], check=True)"
RENDER = "from slipway.render.recorder import record; record(lambda: None, stack='dev')"
SOURCES = {
    "test_at_import_1.py": f"{RUN}\ndef test_one(): pass\n",
    "test_at_import_2.py": f"{RENDER}\ndef test_one(): pass\n",
    "test_inside.py": f"""\
import pytest
@pytest.fixture(scope="session")
def ended():
    yield
    {RUN}
def test_process(ended):
    {RUN}
def test_rendering():
    {RENDER}
@pytest.mark.fast
def test_fast_process():
    {RUN}
@pytest.mark.fast
def test_fast_rendering():
    {RENDER}
""",
}


def test_what_is_costly_fails_a_module_and_a_process_a_test_of_the_fast_tier(tmp_path: Path) -> None:
    for name, source in SOURCES.items():
        (tmp_path / name).write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.guards", "-p", "no:cacheprovider"]
    options = ["--continue-on-collection-errors", f"--rootdir={tmp_path}", "-c", str(ROOT / "pyproject.toml")]
    done = subprocess.run([*command, *options, tmp_path], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    for what in (guards.PROCESS, guards.RENDER):
        assert f"Failed: {what} while it is imported" in done.stdout
    assert f"{guards.PROCESS} in a test of the tier `fast`" in done.stdout
    assert re.search(r"^FAILED \S*test_inside\.py::test_fast_process( - |$)", done.stdout, re.MULTILINE)
    # A fixture of the whole run ends after the last test of a worker, which may be a fast one.
    assert "1 failed, 3 passed, 2 errors" in done.stdout

"""A module that renders or starts a process while it is imported is not collected; in runs of pytest of their own."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests import guards
from tests.tiers import ROOT

RUN = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], check=True)"
RENDER = "from slipway.render.recorder import record; record(lambda: None, stack='dev')"


def collected(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_module.py").write_text(textwrap.dedent(source))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.guards", "-p", "no:cacheprovider"]
    options = [f"--rootdir={folder}", "-c", str(ROOT / "pyproject.toml"), str(folder)]
    return subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("costly", "what"), [(RUN, guards.PROCESS), (RENDER, guards.RENDER)])
def test_what_is_costly_fails_a_module_and_not_a_test(tmp_path: Path, costly: str, what: str) -> None:
    at_import = collected(tmp_path, f"{costly}\ndef test_one(): pass\n")
    assert at_import.returncode == pytest.ExitCode.INTERRUPTED, at_import.stdout
    assert f"Failed: {what} while it is imported" in at_import.stdout
    in_a_test = collected(tmp_path, f"def test_one():\n    {costly}\n")
    assert "1 passed" in in_a_test.stdout, in_a_test.stdout


@pytest.mark.parametrize(("costly", "passes"), [(RUN, False), (RENDER, True)])
def test_a_test_of_the_fast_tier_starts_no_process(tmp_path: Path, costly: str, passes: bool) -> None:
    done = collected(tmp_path, f"import pytest\n@pytest.mark.fast\ndef test_one():\n    {costly}\n")
    assert (done.returncode == 0) == passes, done.stdout
    assert (f"{guards.PROCESS} in a test of the tier `fast`" in done.stdout) != passes

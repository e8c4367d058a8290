"""Whatever fails before the tests in `make test`, they run. What make runs here is stubs.

A tool that is missing fails the run where SLIPWAY_REQUIRE_ALL=1, and a fault of style everywhere.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.required import VARIABLE
from tools.lock import ROOT

NEEDED: Final = ("bash", "chmod", "dirname", "id", "make", "mktemp", "rm", "sh", "touch")
STUB: Final = '#!/bin/sh\necho "$0 $*" >>log\ncase "$0 $*" in *"$MISSING"*) echo "no $MISSING" >&2; exit 1;; esac\n'
CHECKS: Final = ("ruff check", "ruff format", "mypy", "lint-imports", "codespell", "tools/lock.py")
TOOLS: Final = ("toolchain ensure --keep-going pulumi", "tools.scanners", "tools.site", "ensure actionlint", "promtool")
APT: Final = '#!/bin/sh\n[ "$MISSING" != promtool ]\n'
DPKG: Final = "#!/bin/sh\nmkdir -p $3/usr/bin && touch $3/usr/bin/promtool $3/usr/bin/prometheus\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile and promtool.sh, among stubs of what they run."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "tools" / "promtool.sh", tmp_path / "tools")
    stubs = {
        "tools/setup.sh": "#!/bin/sh\n",
        **{f".venv/bin/{name}": STUB for name in ("python", "ruff", "mypy", "lint-imports", "codespell", "pytest")},
        "bin/apt-get": APT,
        "bin/dpkg-deb": DPKG,
    }
    for name, text in stubs.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    # No more than that: a promtool or an apt of this machine would decide otherwise.
    for name in (*NEEDED, "mkdir", "mv"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or name)
    return tmp_path


def make_test(checkout: Path, missing: str, required: str) -> subprocess.CompletedProcess[str]:
    outside = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    env = {**outside, "PATH": str(checkout / "bin"), "MISSING": missing, VARIABLE: required}
    return subprocess.run(["make", "test"], cwd=checkout, env=env, capture_output=True, text=True, check=False)


def was_run(checkout: Path, step: str) -> bool:
    if step == "promtool":
        return (checkout / "build" / "promtool" / "promtool").exists()
    return step in (checkout / "log").read_text()


@pytest.mark.parametrize("missing", [*CHECKS, *TOOLS])
@pytest.mark.parametrize("required", ["", "0", "1"])
def test_whatever_fails_before_the_tests_everything_else_is_run(checkout: Path, missing: str, required: str) -> None:
    done = make_test(checkout, missing, required)
    assert f"no {missing}" in done.stdout + done.stderr
    assert [step for step in (*CHECKS, *TOOLS) if not was_run(checkout, step) and step != missing] == []
    assert "/pytest -n auto" in (checkout / "log").read_text().splitlines()[-1]
    assert (done.returncode != 0) == (missing in CHECKS or required == "1"), done.stderr


def test_with_all_of_them_the_run_succeeds_as_the_tests_do(checkout: Path) -> None:
    done = make_test(checkout, "nothing-that-is-named", "1")
    assert done.returncode == 0, done.stderr
    assert make_test(checkout, "pytest -n", "0").returncode != 0

"""`make test` goes on without scanners and promtool, and ends where SLIPWAY_REQUIRE_ALL=1. What it runs is stubs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.required import VARIABLE
from tools.lock import ROOT

NEEDED: Final = ("bash", "chmod", "dirname", "id", "make", "mktemp", "rm", "sh", "touch")
PYTHON: Final = '#!/bin/sh\ncase "$*" in *"$MISSING"*) echo "no $MISSING" >&2; exit 1;; esac\n'
APT: Final = '#!/bin/sh\n[ "$MISSING" != promtool ]\n'
DPKG: Final = "#!/bin/sh\nmkdir -p $3/usr/bin && touch $3/usr/bin/promtool\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile and promtool.sh, among stubs of what they run."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "tools" / "promtool.sh", tmp_path / "tools")
    stubs = {
        "tools/setup.sh": "#!/bin/sh\n",
        ".venv/bin/python": PYTHON,
        ".venv/bin/ruff": "#!/bin/sh\n",
        ".venv/bin/mypy": "#!/bin/sh\n",
        ".venv/bin/lint-imports": "#!/bin/sh\n",
        ".venv/bin/codespell": "#!/bin/sh\n",
        ".venv/bin/pytest": "#!/bin/sh\ntouch tested\n",
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


@pytest.mark.parametrize("missing", ["tools.scanners", "tools.site", "actionlint", "promtool"])
def test_a_tool_that_is_missing_ends_the_run_where_all_is_required(checkout: Path, missing: str) -> None:
    done = make_test(checkout, missing, "1")
    assert done.returncode != 0, done.stdout
    assert f"no {missing}" in done.stderr
    assert not (checkout / "tested").exists()


@pytest.mark.parametrize("missing", ["tools.scanners", "tools.site", "actionlint", "promtool"])
@pytest.mark.parametrize("required", ["", "0"])
def test_elsewhere_the_tests_that_need_it_are_skipped(checkout: Path, missing: str, required: str) -> None:
    done = make_test(checkout, missing, required)
    assert done.returncode == 0, done.stderr
    assert f"no {missing}" in done.stdout + done.stderr
    assert (checkout / "tested").exists()


def test_with_all_of_them_the_tests_run(checkout: Path) -> None:
    done = make_test(checkout, "nothing-that-is-named", "1")
    assert done.returncode == 0, done.stderr
    assert (checkout / "tested").exists()
    assert (checkout / "build" / "promtool" / "promtool").exists()

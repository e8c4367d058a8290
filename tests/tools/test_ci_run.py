"""What `.ci/run` does before `make test`: with stubs for make and apt-get."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.required import VARIABLE
from tools.lock import ROOT

MAKE: Final = f'#!/bin/sh\necho "make $* with ${VARIABLE}, shared: ${{SLIPWAY_SHARED:-none}}"\n'
APT: Final = '#!/bin/sh\necho "$*" >>apt.log\n[ "$1" = update ] && touch lists\n[ -e lists ] && [ "$APT" != broken ]\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    for name, text in {".ci/run": (ROOT / ".ci" / "run").read_text(), "bin/make": MAKE, "bin/apt-get": APT}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    (folder / "bin" / "id").write_text("#!/bin/sh\necho $USER_ID\n")
    (folder / "bin" / "id").chmod(0o755)
    for name in ("bash", "dirname", "env", "sh", "touch"):
        (folder / "bin" / name).symlink_to(shutil.which(name) or name)
    return folder


def run(checkout: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": str(checkout / "bin"), "USER_ID": "0", "APT": "", **variables}
    command = [str(checkout / ".ci" / "run")]
    return subprocess.run(command, cwd=checkout, env=env, capture_output=True, text=True, check=True)


def test_it_runs_the_command_of_the_readme() -> None:
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1].startswith("exec make --no-print-directory test REST=")
    assert "\nmake test " in (ROOT / "README.md").read_text()


def test_all_is_required_and_samples_are_named_where_there_are_any(checkout: Path) -> None:
    assert "make --no-print-directory test REST=1 with 1, shared: none\n" in run(checkout).stdout
    (checkout.parent / "shared").mkdir()
    assert run(checkout).stdout.endswith(f"shared: {checkout.parent / 'shared'}\n")


@pytest.mark.parametrize(("commit", "quarter"), [("00000a", 3), ("000003", 4), ("fffffd" * 6, 2), ("fffffc" * 6, 1)])
def test_the_commit_chooses_the_quarter_of_the_rest(checkout: Path, commit: str, quarter: int) -> None:
    (checkout / "bin" / "git").write_text(f"#!/bin/sh\necho {commit}\n")
    (checkout / "bin" / "git").chmod(0o755)
    assert f"test REST={quarter} with" in run(checkout).stdout


def test_root_installs_what_is_missing_with_new_lists_where_the_old_ones_fail(checkout: Path) -> None:
    run(checkout)
    install = "install -y -qq --no-install-recommends zsh kubernetes-client chromium"
    assert (checkout / "apt.log").read_text().splitlines() == [install, "update -qq", install]


def test_a_package_that_cannot_be_had_is_reported_and_left_to_the_tests(checkout: Path) -> None:
    done = run(checkout, APT="broken")
    assert "apt brings no zsh kubernetes-client chromium" in done.stderr
    assert "make --no-print-directory test" in done.stdout


def test_nothing_is_installed_without_root_or_where_nothing_is_missing(checkout: Path) -> None:
    run(checkout, USER_ID="1000")
    for name in ("zsh", "kubectl", "google-chrome"):
        (checkout / "bin" / name).symlink_to("sh")
    run(checkout)
    assert not (checkout / "apt.log").exists()

"""What the build backend offers: an editable install; for a wheel or an sdist it says what to do instead."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tools import build_backend
from tools.lock import ROOT

UV = str(Path(sys.executable).parent / "uv")
SYSTEM = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What the backend reads of this project, so that nothing is written into the tree."""
    folder = tmp_path / "project"
    for name in ("pyproject.toml", "README.md", "LICENSE", "tools/build_backend.py", "slipway/__init__.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def test_pyproject_names_this_backend() -> None:
    assert [ROOT / path / f"{SYSTEM['build-backend']}.py" for path in SYSTEM["backend-path"]] == [
        Path(build_backend.__file__)
    ]


def test_the_hooks_for_wheels_and_sdists_refuse_and_say_what_to_do() -> None:
    for hook in (build_backend.build_wheel, build_backend.build_sdist):
        with pytest.raises(SystemExit) as refused:
            hook("anywhere")
        assert str(refused.value).endswith("clone the repository and run `make setup` in the clone.")


@pytest.mark.parametrize("what", ["--wheel", "--sdist"])
def test_a_frontend_shows_the_sentence_and_no_traceback(project: Path, what: str) -> None:
    command = [UV, "build", what, "--offline", "--no-build-isolation", "--python", sys.executable, str(project)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert build_backend.NOT_OFFERED in done.stderr
    assert "Traceback" not in done.stderr
    assert not any((project / "dist").glob("slipway*"))


def test_an_editable_install_leads_to_the_clone_with_command_and_license(project: Path, tmp_path: Path) -> None:
    """By the hooks, as a frontend calls them: in the project's folder, in a process of their own."""
    code = "import build_backend as b, sys; print('wheel:', b.build_editable(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], env={"PYTHONPATH": SYSTEM["backend-path"][0]}, cwd=project,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    name = done.stdout.splitlines()[-1].removeprefix("wheel: ")
    with zipfile.ZipFile(tmp_path / name) as wheel:
        text = {path.rpartition("/")[2]: wheel.read(path).decode() for path in wheel.namelist()}
    assert "slipway = slipway.cli:main" in text["entry_points.txt"]
    assert "License-Expression: Apache-2.0\n" in text["METADATA"]
    assert text["LICENSE"] == (ROOT / "LICENSE").read_text()
    assert any(str(project) in content for content in text.values())
    assert "__init__.py" not in text

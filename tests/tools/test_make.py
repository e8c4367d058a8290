"""Whatever fails before the tests in `make test`, they run. What make runs here is stubs.

A tool that is missing fails the run where SLIPWAY_REQUIRE_ALL=1, and a fault of style everywhere.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Final

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

from tests.required import VARIABLE
from tools import build_backend, lock
from tools.lock import ROOT

NEEDED: Final = ("bash", "chmod", "dirname", "id", "make", "mktemp", "rm", "sh", "touch")
STUB: Final = '#!/bin/sh\necho "$0 $*" >>log\ncase "$0 $*" in *"$MISSING"*) echo "no $MISSING" >&2; exit 1;; esac\n'
CHECKS: Final = ("ruff check", "ruff format", "mypy", "lint-imports", "codespell", "tools/lock.py")
TOOLS: Final = ("toolchain ensure --keep-going pulumi", "tools.scanners", "tools.site", "ensure actionlint", "promtool")
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


PYPROJECT = lock.PYPROJECT.read_text()
LOCK = lock.LOCK.read_text()


def dependencies() -> list[Requirement]:
    document = tomllib.loads(PYPROJECT)
    return [Requirement(text) for text in (*document["project"]["dependencies"], *document["dependency-groups"]["dev"])]


def test_the_lock_file_belongs_to_pyproject_and_pins_every_package_by_hash() -> None:
    assert lock.problems(PYPROJECT, LOCK) == []


@pytest.mark.parametrize("path", [lock.SCANNERS, lock.SITE], ids=lambda path: path.stem)
def test_a_lock_file_of_tools_belongs_to_pyproject_and_pins_every_package_by_hash(path: Path) -> None:
    assert lock.problems(PYPROJECT, path.read_text(), path) == []


def test_another_version_of_a_scanner_makes_only_its_lock_file_out_of_date() -> None:
    changed = PYPROJECT.replace("checkov==", "checkov>=")
    assert "run `make lock`" in lock.problems(changed, lock.SCANNERS.read_text(), lock.SCANNERS)[0]
    assert lock.problems(changed, LOCK) == []


@pytest.mark.parametrize(
    "text", [LOCK, lock.SCANNERS.read_text(), lock.SITE.read_text()], ids=["requirements", "scanners", "site"]
)
def test_a_lock_file_names_no_host_and_no_path(text: str) -> None:
    assert not re.search(r"://|@ |\b[a-z0-9-]+\.(com|org|net|io|dev)\b|[ =]/", text)


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_locked_versions_meet_pyproject(python: str) -> None:
    environment = {key: str(value) for key, value in default_environment().items()}
    environment |= {"python_version": python, "python_full_version": f"{python}.0"}
    pinned: dict[str, str] = {}
    for line in lock.requirements(LOCK):
        locked = Requirement(line.split(" --hash")[0])
        if locked.marker is None or locked.marker.evaluate(environment):
            assert locked.name not in pinned, f"{locked.name} is pinned twice for Python {python}"
            pinned[locked.name] = str(locked.specifier).removeprefix("==")
    wrong = [str(wanted) for wanted in dependencies() if not wanted.specifier.contains(pinned[wanted.name.lower()])]
    assert wrong == [], "run `make lock`"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("moto[server,", "moto["),  # one extra removed
        ("pulumi==3.258.0", "pulumi==3.259.0"),
        ('requires-python = ">=3.11', 'requires-python = ">=3.12'),
        ('"packaging>=26",', '"packaging>=26", "tox",'),
    ],
)
def test_a_change_of_the_dependencies_makes_the_lock_file_out_of_date(old: str, new: str) -> None:
    assert old in PYPROJECT
    (problem,) = lock.problems(PYPROJECT.replace(old, new, 1), LOCK)
    assert "run `make lock`" in problem


def test_other_changes_do_not_make_the_lock_file_out_of_date() -> None:
    assert lock.problems(PYPROJECT.replace("line-length = 120", "line-length = 100"), LOCK) == []


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://example.org/simple",
        "--find-links /wheels",
        "idna==3.20",
        "idna>=3 --hash=sha256:" + "0" * 64,
        "idna==3.20 --hash=sha256:0",
        "idna @ https://example.org/idna.whl --hash=sha256:" + "0" * 64,
    ],
)
def test_a_line_that_is_not_one_version_with_its_hashes_is_refused(line: str) -> None:
    assert any(line in problem for problem in lock.problems(PYPROJECT, f"{LOCK}{line}\n"))


# What `.ci/run` does before `make test`: with stubs for make and apt-get.


MAKE: Final = f'#!/bin/sh\necho "make $* with ${VARIABLE}, shared: ${{SLIPWAY_SHARED:-none}}"\n'
APT_GET: Final = (
    '#!/bin/sh\necho "$*" >>apt.log\n[ "$1" = update ] && touch lists\n[ -e lists ] && [ "$APT" != broken ]\n'
)


@pytest.fixture
def ci_checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    for name, text in {
        ".ci/run": (ROOT / ".ci" / "run").read_text(),
        "bin/make": MAKE,
        "bin/apt-get": APT_GET,
    }.items():
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


def test_all_is_required_and_samples_are_named_where_there_are_any(ci_checkout: Path) -> None:
    assert "make --no-print-directory test REST=1 with 1, shared: none\n" in run(ci_checkout).stdout
    (ci_checkout.parent / "shared").mkdir()
    assert run(ci_checkout).stdout.endswith(f"shared: {ci_checkout.parent / 'shared'}\n")


@pytest.mark.parametrize(("commit", "quarter"), [("00000a", 3), ("000003", 4), ("fffffd" * 6, 2), ("fffffc" * 6, 1)])
def test_the_commit_chooses_the_quarter_of_the_rest(ci_checkout: Path, commit: str, quarter: int) -> None:
    (ci_checkout / "bin" / "git").write_text(f"#!/bin/sh\necho {commit}\n")
    (ci_checkout / "bin" / "git").chmod(0o755)
    assert f"test REST={quarter} with" in run(ci_checkout).stdout


def test_root_installs_what_is_missing_with_new_lists_where_the_old_ones_fail(ci_checkout: Path) -> None:
    run(ci_checkout)
    install = "install -y -qq --no-install-recommends zsh kubernetes-client chromium"
    assert (ci_checkout / "apt.log").read_text().splitlines() == [install, "update -qq", install]


def test_a_package_that_cannot_be_had_is_reported_and_left_to_the_tests(ci_checkout: Path) -> None:
    done = run(ci_checkout, APT="broken")
    assert "apt brings no zsh kubernetes-client chromium" in done.stderr
    assert "make --no-print-directory test" in done.stdout


def test_nothing_is_installed_without_root_or_where_nothing_is_missing(ci_checkout: Path) -> None:
    run(ci_checkout, USER_ID="1000")
    for name in ("zsh", "kubectl", "google-chrome"):
        (ci_checkout / "bin" / name).symlink_to("sh")
    run(ci_checkout)
    assert not (ci_checkout / "apt.log").exists()


# What the build backend offers: an editable install; for a wheel or an sdist it says what to do instead.


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

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import environment, lifecycle

UNWANTED, PREFIX = environment.UNWANTED, environment.PREFIX


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "own cache"))


def run_in_shell(given: dict[str, str], package: Path) -> None:
    script = f'{environment.bytecode_lines()}exec "$1" -c "import package"\n'
    kept = {name: value for name, value in os.environ.items() if name not in (UNWANTED, PREFIX)}
    subprocess.run(["sh", "-c", script, "sh", sys.executable], cwd=package.parent, env=kept | given, check=True)


def test_modules_are_compiled_into_the_cache_and_not_beside_the_sources(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    run_in_shell({UNWANTED: "1"}, package)
    assert not list(package.rglob("*.pyc"))
    assert [path.name for path in (tmp_path / "own cache").rglob("package/*.pyc")]


def test_without_the_variable_modules_are_compiled_beside_the_sources(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    run_in_shell({}, package)
    assert list(package.rglob("*.pyc"))
    assert not (tmp_path / "own cache").exists()


@pytest.mark.parametrize("given", [{}, {UNWANTED: ""}, {UNWANTED: "1", PREFIX: "/elsewhere"}])
def test_no_variable_is_set_if_python_may_write_or_the_user_chose_a_directory(given: dict[str, str]) -> None:
    assert environment.bytecode_variables(given) == {}


def test_the_daemon_compiles_its_imports_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(UNWANTED, "1")
    monkeypatch.delenv(PREFIX, raising=False)
    found = lifecycle.daemon_environment()
    assert found[UNWANTED] == ""
    assert found[PREFIX] == str(tmp_path / "own cache" / "bytecode")

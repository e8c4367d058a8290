"""Imports go one way. The contracts of pyproject.toml say how, `make check` holds them; here they are held to catch."""

import shutil
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

import grimp
import pytest

from tests.support.cases import beside

CASES: Final = beside(__file__)

ROOT: Final = Path(__file__).resolve().parents[1]
RENDERING: Final = "slipway.render.program"
JUDGE: Final = "slipway.why.judge"
PACKAGES: Final = ("spec", "components", "infra", "policies", "sandbox", "slipway")


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def test_no_top_level_packages_import_each_other_in_a_circle(graph: grimp.ImportGraph) -> None:
    # The policies compare with what the program renders (ADR 0134) and ask admission rules: both are below them.
    rendering = {each for below in (RENDERING, JUDGE) for each in (below, *graph.find_upstream_modules(below))}

    def package(module: str) -> str:
        top = module.partition(".")[0]
        return RENDERING if top == "slipway" and module in rendering else top

    imports: dict[str, set[str]] = {each: set() for each in (*PACKAGES, RENDERING)}
    for module in graph.modules - {"slipway", "slipway.render"}:
        for imported in graph.find_modules_directly_imported_by(module):
            if package(module) != package(imported):
                imports[package(module)].add(package(imported))
    order = list(TopologicalSorter(imports).static_order())  # raises CycleError for a circle
    assert order[0] == "spec"
    assert order[-1] == "slipway"


@pytest.mark.parametrize(("module", "line", "contract"), CASES["a wrong import breaks a contract"])
def test_a_wrong_import_breaks_a_contract(tmp_path: Path, module: str, line: str, contract: str) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "data"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    file = tmp_path / module
    file.write_text(file.read_text() + f"\n{line}\n")
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    broken = [text for text in done.stdout.splitlines() if text.endswith("BROKEN")]
    assert done.returncode == 1, done.stdout + done.stderr
    assert any(contract in text for text in broken), broken

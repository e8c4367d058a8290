"""Rules that hold for the tree as a whole."""

import ast
import fnmatch
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[1]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
ENTRY_POINTS = ("conftest.py", "__init__.py", "__main__.py")
MAXIMUM_LINES = 600


def tracked(pattern: str) -> list[Path]:
    """The files of the tree that git knows or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", pattern]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def imported(path: Path) -> set[str]:
    """The modules, and the names within them, that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return names


def is_collected(path: Path) -> bool:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["python_files"]
    return any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns)


def holds_tests(path: Path) -> bool:
    return re.search(r"^\s*(async )?def test_", path.read_text(), re.MULTILINE) is not None


def test_pytest_collects_every_file_that_holds_tests_and_no_other() -> None:
    strange = [str(path.relative_to(ROOT)) for path in TESTS if is_collected(path) != holds_tests(path)]
    assert strange == []


def test_every_other_file_below_tests_is_used_by_one() -> None:
    by_name = {"tests.e2e.changes"}  # copied into the program of a checkout (tests/e2e/official.py)
    used = by_name.union(*(imported(path) for path in TESTS))
    others = [path for path in TESTS if not is_collected(path) and path.name not in ENTRY_POINTS]
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in others}
    assert modules - used == set()


@pytest.mark.parametrize("pattern", ["*.py", "*.sh"])
def test_no_source_file_is_too_long_to_be_read(pattern: str) -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in tracked(pattern)}
    assert {name: length for name, length in lengths.items() if length > MAXIMUM_LINES} == {}


# Imports go one way. The contracts of pyproject.toml say how, `make check` holds them; here they are held to catch.


PACKAGES: Final = ("spec", "components", "infra", "policies", "sandbox", "slipway")


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def test_no_top_level_packages_import_each_other_in_a_circle(graph: grimp.ImportGraph) -> None:
    imports: dict[str, set[str]] = {package: set() for package in PACKAGES}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            if module.partition(".")[0] != imported.partition(".")[0]:
                imports[module.partition(".")[0]].add(imported.partition(".")[0])
    order = list(TopologicalSorter(imports).static_order())  # raises CycleError for a circle
    assert order[0] == "spec"
    assert order[-1] == "slipway"


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("spec/naming.py", "import pulumi", "no Pulumi"),
        ("spec/naming.py", "import components.network", "What is built"),
        ("components/base/iam.py", "import components.storage.key", "Inside components"),
        ("components/network/routing.py", "import infra.providers", "What is built"),
        ("sandbox/ports.py", "import slipway.engine.project", "The sandbox knows spec alone"),
        ("sandbox/ports.py", "import policies.rule", "The sandbox knows spec alone"),
        ("policies/evaluation/ranges.py", "import policies.rules.vpc", "Inside policies"),
        ("policies/rule.py", "import infra.program", "What is built"),
    ],
)
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


# Phrases that this project does not use. Single words are codespell's (`make check`, tools/words.txt).


INSTEAD: Final = {
    r"at (?:its|their) least": "minimum, or floor for cost",
    r"at (?:its|their) most": "maximum, or ceiling for cost",
    r"by right(?!-)": "guaranteed",
}
NOT_READ: Final = (".lock", ".sum", ".mod", "tests/test_tree.py")


def phrases(text: str) -> list[str]:
    """Phrases of a text, each with what to write instead."""
    flat = re.sub(r"\s+", " ", text)
    return [
        f"{found[0]!r}: write {instead}"
        for pattern, instead in INSTEAD.items()
        for found in re.finditer(rf"\b{pattern}\b", flat, re.IGNORECASE)
    ]


def test_a_phrase_is_found_across_lines_and_right_sizing_is_none() -> None:
    assert phrases("every pool at\n    its least") == ["'at its least': write minimum, or floor for cost"]
    assert phrases("found by right-sizing, at least once") == []


def test_no_file_has_one() -> None:
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    read = [ROOT / name for name in names if name and not name.endswith(NOT_READ)]
    found = {str(path.relative_to(ROOT)): phrases(path.read_text(encoding="utf-8", errors="ignore")) for path in read}
    assert {path: texts for path, texts in found.items() if texts} == {}


# What the type checker looks at of the AWS SDK: all that is used of it.


SDK: Final = "pulumi_aws"


def settings() -> dict[str, Any]:
    """The settings of mypy."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    return found


def services(tree: ast.Module, known: set[str]) -> Iterator[str]:
    """Service packages of the SDK that a module names: `aws.ec2` where it has `import pulumi_aws as aws`."""
    imports = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names = {alias.asname or alias.name for alias in imports if alias.name == SDK}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            yield from {node.attr} & known
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(SDK):
            yield from {(node.module or "").partition(".")[2], *(alias.name for alias in node.names)} & known


def test_the_type_checker_starts_no_worker_that_can_miss_its_start() -> None:
    assert "num_workers" not in settings()


def test_the_type_checker_reads_the_services_in_use_and_no_others() -> None:
    """It takes 25 s of its first run instead of 50, but what it does not read it does not check."""
    spec = find_spec(SDK)
    assert spec is not None
    assert spec.origin is not None
    packages = {path.parent.name for path in Path(spec.origin).parent.glob("*/__init__.py")}
    files = [file for folder in settings()["files"] for file in (ROOT / folder).rglob("*.py")]
    used = {name for file in files for name in services(ast.parse(file.read_text(encoding="utf-8")), packages)}
    (read,) = (
        set(each["module"])
        for each in settings()["overrides"]
        if each.get("follow_imports") == "normal" and SDK in each["module"]
    )
    listed = {module.split(".")[1] for module in read if module.endswith(".*")}
    assert listed == used | {"config"}, "correct the list of pulumi_aws modules in pyproject.toml, tool.mypy.overrides"


# No test gives another process or thread less time than a busy machine needs.


ENOUGH: Final = 60.0
PAUSE: Final = 2.0
"""Shorter ones are pauses of a loop, or what has to be exceeded."""
LIMIT: Final = re.compile(
    r"\buntil\(.*, (\d+(?:\.\d+)?), [\w\"]"
    r"|\.(?:wait|join|result|settimeout)\((\d+(?:\.\d+)?)\)"
    r"|\b(?:timeout|deadline|patience)=(\d+(?:\.\d+)?)\b"
    r"|monotonic\(\) \+ (\d+(?:\.\d+)?)\b"
    r"|^SECONDS(?:: Final)? = (\d+(?:\.\d+)?)$",
    re.MULTILINE,
)


def short(text: str) -> list[str]:
    """What limits a wait by a number of seconds that is too small."""
    found = ((match.group(), float(next(filter(None, match.groups())))) for match in LIMIT.finditer(text))
    return [what for what, seconds in found if PAUSE <= seconds < ENOUGH]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("until(lambda: f() or None, 20.0, why)", 1),
        ('until(lambda: f() == (7, 3) or None, 20.0, "no")', 1),
        ('until(lambda: f() == (7, 3) or None, SECONDS, "no")', 0),
        ("event.wait(5)", 1),
        ("run(command, timeout=30, check=False)", 1),
        ("end = time.monotonic() + 10\n", 1),
        ("SECONDS: Final = 15.0\n", 1),
        ('until(look, SECONDS, "no")', 0),
        ("thread.join(0.1)", 0),
        ("run(command, timeout=120)", 0),
    ],
)
def test_a_number_that_limits_a_wait_is_found(text: str, count: int) -> None:
    assert len(short(text)) == count


def test_every_wait_is_long_enough() -> None:
    files = [path for path in ROOT.rglob("*.py") if path.parent.name != "bench" and path != Path(__file__)]
    assert {str(path): found for path in files if (found := short(path.read_text(encoding="utf-8")))} == {}, (
        "use SECONDS of tests/support/patience.py: a wait ends as soon as its condition holds"
    )

"""What the type checker looks at of the AWS SDK: all that is used of it."""

import ast
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
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

"""The list of reviewed types has every type that the program and the examples declare."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pulumi_aws as aws
import pytest

from policies.resources import tokens
from policies.reviewed import DECLARED, REVIEWED
from policies.rules.program import IGNORED_LISTED
from tests.components.workloads.examples import EXAMPLES, record
from tests.support.stacks import NAMES, recorded

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "components").rglob("*.py"))


def aws_classes(node: ast.AST) -> Iterator[str]:
    """Dotted paths below `aws` that a module calls: `ec2.Vpc`."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("aws."):
            yield ast.unparse(call.func).removeprefix("aws.")


@pytest.mark.parametrize("stack", NAMES)
def test_every_type_of_a_stack_is_reviewed(stack: str) -> None:
    assert {one.type for one in recorded(stack)} - REVIEWED == set()


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_type_of_an_example_is_reviewed(example: str) -> None:
    assert {one.type for one in record(example)} - REVIEWED == set()


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_ignores_only_listed_changes(example: str) -> None:
    listed = IGNORED_LISTED.settings["properties"].values["prod"]
    ignored = [(one.type, path) for one in record(example) for path in one.ignore_changes]
    assert [(kind, path) for kind, path in ignored if path not in listed.get(kind, ())] == []


def test_every_class_of_aws_that_a_component_uses_is_reviewed() -> None:
    """Some are used only with settings that no stack file of the project has."""
    unreviewed, found = set(), 0
    for path in SOURCES:
        for dotted in aws_classes(ast.parse(path.read_text(encoding="utf-8"))):
            value: object = aws
            for part in dotted.split("."):
                value = getattr(value, part)
            token = getattr(value, "pulumi_type", None)
            found += token is not None
            if token is not None and token not in REVIEWED:
                unreviewed.add(token)
    assert found > 50
    assert unreviewed == set()


def test_every_component_is_reviewed() -> None:
    written = {
        token for path in SOURCES for token in re.findall(r'"(slipway:[a-z]+:[A-Z][A-Za-z]+)"', path.read_text())
    }
    assert "slipway:pools:Fabric" in written
    assert written - REVIEWED == set()
    assert {token for token in REVIEWED if token.startswith("slipway:")} - written == set(), (
        "no component has this type"
    )


@pytest.mark.parametrize("ending", ["Patch", "List"])
def test_no_kind_that_changes_other_objects_is_reviewed(ending: str) -> None:
    """Their contents are those of other kinds, which rules find by type."""
    assert [token for token in REVIEWED if token.startswith("kubernetes:") and token.endswith(ending)] == []


def test_a_type_is_listed_once() -> None:
    named = {value for name, value in vars(tokens).items() if name.isupper() and isinstance(value, str)}
    assert DECLARED & named == set()

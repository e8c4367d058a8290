"""Rows of types: words that don't exist are errors, and no function is there for nothing."""

import ast
from pathlib import Path

import pytest

from sandbox.aws import types
from sandbox.aws.client import Aws
from sandbox.aws.mapping import Call, find

FOLDER = Path(types.__file__).parent
ROW = {"service": "efs", "create": {"call": "create_access_point"}, "read": {"call": "describe_access_points"}}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"replace": ["posixUser"]}, "replace"),
        ({"create": {"call": "create_access_point", "omits": []}}, "omits"),
        ({"delete": "delete_nothing"}, "delete_nothing"),
        ({"limits": {"members": {}}}, "operations"),
    ],
)
def test_an_unknown_word_is_an_error_with_file_and_type(
    more: dict[str, object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "aws:efs/accessPoint:AccessPoint"
    monkeypatch.setattr("spec.strict_yaml.read", lambda _text: {token: {**ROW, **more}})
    with pytest.raises(ValueError, match=rf"network\.yaml: {token}: .*{said}"):
        types._load()


@pytest.mark.parametrize("rows", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_function_without_a_docstring_is_named_by_a_row(rows: Path) -> None:
    tree = ast.parse(rows.with_suffix(".py").read_text(encoding="utf-8"))
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]
    named = rows.read_text(encoding="utf-8").replace(",", " ").replace("}", " ").split()
    assert [one.name for one in functions if ast.get_docstring(one) is None and one.name not in named] == []


def test_what_other_calls_add_is_found_with_the_object(aws: Aws) -> None:
    id = aws.call("efs", "create_file_system", CreationToken="one")["FileSystemId"]
    describe = types.MAPPINGS["aws:efs/fileSystem:FileSystem"].read
    assert isinstance(describe, Call)
    found = find(aws, "efs", describe, {"id": id})
    assert found is not None
    assert (found["FileSystemId"], found["LifecyclePolicies"]) == (id, [])
    assert find(aws, "efs", describe, {"id": "fs-0123456789abcdef0"}) is None

"""Schemas on disk: equal to those of the SDK, and optional."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest.mock import Mock

import pytest

from sandbox.aws import schema
from sandbox.aws.kinds import AnyOf, Field, Kind, ListOf, MapOf, ObjectOf, Objects
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.schema import tokens

TOPIC = "aws:sns/topic:Topic"
RECURSIVE = "aws:wafv2/ruleGroup:RuleGroup"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate cache for the test."""
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))
    return tmp_path


def of_the_sdk(type_token: str) -> Objects:
    return schema.read(*tokens()[type_token])


def kept(type_token: str) -> Path:
    """The file of a type, written."""
    schema.save(type_token, of_the_sdk(type_token))
    return schema.place(type_token)


def below(kind: Kind) -> list[ObjectOf]:
    if isinstance(kind, (ListOf, MapOf)):
        return below(kind.item)
    if isinstance(kind, AnyOf):
        return [found for option in kind.options for found in below(option)]
    return [kind] if isinstance(kind, ObjectOf) else []


def children(fields: Mapping[str, Field]) -> list[ObjectOf]:
    """The objects that properties hold."""
    return [nested for field in fields.values() for nested in below(field.kind)]


@pytest.mark.parametrize("type_token", [*sorted(OPERATIONS), RECURSIVE])
def test_a_cached_schema_equals_that_of_the_sdk(type_token: str) -> None:
    expected = of_the_sdk(type_token)
    schema.save(type_token, expected)
    found = schema.load(type_token)
    assert found == expected
    for fields in found.values():
        for nested in children(fields):
            assert nested.fields == expected[nested.name]


def test_a_recursive_object_is_one_object() -> None:
    kept(RECURSIVE)
    found = schema.load(RECURSIVE)
    assert found is not None
    own = [name for name, fields in found.items() if any(reaches(child, name, set()) for child in children(fields))]
    assert "pulumi_aws.wafv2._inputs.RuleGroupRuleStatementArgs" in own


def reaches(start: ObjectOf, name: str, seen: set[str]) -> bool:
    if start.name == name:
        return True
    if start.name in seen:
        return False
    seen.add(start.name)
    return any(reaches(child, name, seen) for child in children(start.fields))


def without_outputs(document: str) -> str:
    parsed = json.loads(document)
    del parsed["objects"]["outputs"]
    return json.dumps(parsed)


BREAKS: dict[str, Callable[[str], str]] = {
    "truncated": lambda document: document[:-20],
    "of another type": lambda document: document.replace(TOPIC, "aws:sqs/queue:Queue"),
    "a kind there is not": lambda document: document.replace('"str"', '"text"'),
    "a missing object": lambda document: document.replace('{"map":"str"}', '{"object":"missing"}'),
    "no outputs": without_outputs,
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_file_is_ignored(name: str) -> None:
    path = kept(TOPIC)
    whole = path.read_text()
    broken = BREAKS[name](whole)
    assert broken != whole
    path.write_text(broken)
    assert schema.load(TOPIC) is None


IN_ANOTHER_PROCESS = f"""
import json, sys
from sandbox.aws.schema import schema
found = schema({TOPIC!r}), schema("aws:ec2/vpc:Vpc")
assert all(one.inputs and one.outputs for one in found)
print(json.dumps(sorted(name for name in sys.modules if name.startswith("pulumi_aws."))))
"""


def imported_by_another_process() -> list[str]:
    """Modules of the SDK that a process has imported after it read two schemas."""
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS], check=True, capture_output=True, text=True, timeout=60
    )
    found: list[str] = json.loads(done.stdout)
    return found


def test_the_second_process_does_not_import_the_sdk() -> None:
    assert {"pulumi_aws.ec2", "pulumi_aws.sns"} <= set(imported_by_another_process())
    assert imported_by_another_process() == []


def test_a_broken_file_is_replaced() -> None:
    path = kept(TOPIC)
    whole = path.read_text()
    path.write_text(whole[:-20])
    assert "pulumi_aws.sns" in imported_by_another_process()
    assert path.read_text() == whole


def test_an_unwritable_cache_is_not_an_error(cache: Path) -> None:
    # For root no directory is read-only; a file in place of the directory fails for every user.
    (cache / "schemas").write_text("")
    schema.save(TOPIC, of_the_sdk(TOPIC))
    assert schema.load(TOPIC) is None
    assert "pulumi_aws.sns" in imported_by_another_process()


def test_a_full_disk_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "replace", Mock(side_effect=OSError(28, "No space left on device")))
    schema.save(TOPIC, of_the_sdk(TOPIC))
    assert list(schema.place(TOPIC).parent.iterdir()) == []


def test_without_a_home_directory_nothing_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLIPWAY_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", Mock(side_effect=RuntimeError("Could not determine home directory.")))
    schema.save(TOPIC, of_the_sdk(TOPIC))
    assert schema.load(TOPIC) is None


def test_no_two_types_share_a_file() -> None:
    places = {str(schema.place(type_token)).lower() for type_token in tokens()}
    assert len(places) == len(tokens())


@pytest.mark.parametrize("module", ["kinds.py", "schema.py"])
def test_changed_code_uses_other_files(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema.place(TOPIC)
    sources = [tmp_path / source.name for source in schema.SOURCES]
    for source, copy in zip(schema.SOURCES, sources, strict=True):
        copy.write_text(source.read_text() + ("# changed\n" if source.name == module else ""))
    monkeypatch.setattr(schema, "SOURCES", sources)
    schema.key.cache_clear()
    try:
        assert schema.place(TOPIC) != before
    finally:
        schema.key.cache_clear()


def test_another_sdk_version_uses_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema.place(TOPIC)
    monkeypatch.setattr(schema, "version", lambda name: "8.0.0")
    schema.key.cache_clear()
    try:
        found = schema.place(TOPIC)
    finally:
        schema.key.cache_clear()
    assert found != before
    assert found.parent.name.startswith("8.0.0-")

"""Nothing that outlives a destroy is encrypted with a key that the destroy deletes, in the program of every stack."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest

from slipway.engine import gate, remains
from slipway.render.program import record_platform
from slipway.render.recording import RecordedResource, Recording
from spec.settings import load, read_stack
from tests.support.day import TODAY
from tests.support.stacks import FOLDER, NAMES

KEY: Final = "aws:kms/key:Key"
DATABASE: Final = "aws:rds/instance:Instance"
VARIANTS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    *((stack, {}) for stack in NAMES),
    ("dev", {"mlflow": {"database": {"finalSnapshot": True}}}),
    ("staging", {"mlflow": {"database": {"finalSnapshot": False}}}),
    ("staging", {"mlflow": None}),
)
variants = pytest.mark.parametrize("at", range(len(VARIANTS)), ids=lambda at: "-".join(map(str, VARIANTS[at])))


@cache
def recorded(at: int) -> Recording:
    stack, addons = VARIANTS[at]
    data: Any = read_stack(stack, FOLDER)
    chosen = {name: one for name, one in {**data["addons"], **addons}.items() if one is not None}
    return record_platform(load({**data, "addons": chosen}, stack=stack, today=TODAY).platform, stack=stack)


def before(recording: Recording, one: RecordedResource) -> set[str]:
    """URNs of everything that the engine creates before a resource, and deletes after it."""
    found: set[str] = set()
    todo = [one.urn]
    while todo:
        new = set(recording.resources[todo.pop()].options.dependencies) - found
        found |= new
        todo += new
    return found


def keys_of(recording: Recording, one: RecordedResource, key: str) -> list[RecordedResource]:
    """KMS keys whose outputs a property uses."""
    urns = one.options.property_dependencies.get(key, ())
    return [recording.resources[urn] for urn in urns if recording.resources[urn].type == KEY]


def outliving(recording: Recording) -> Iterator[tuple[str, RecordedResource]]:
    """What outlives a destroy, and its key."""
    for one in recording:
        entry = remains.TABLE.get(one.type)
        if entry and entry.key and remains.of(one.type, one.inputs.plain):
            yield from ((one.name, key) for key in keys_of(recording, one, entry.key))
        if one.options.retain_on_delete and one.type != KEY:
            for name in one.options.property_dependencies:
                yield from ((one.name, key) for key in keys_of(recording, one, name))


@variants
def test_the_key_of_what_outlives_a_destroy_is_retained(at: int) -> None:
    lost = [(name, key.name) for name, key in outliving(recorded(at)) if not key.options.retain_on_delete]
    assert lost == []


@variants
def test_data_that_aws_refuses_to_delete_keeps_its_key(at: int) -> None:
    """The engine deletes a key only after everything that depends on it: a bucket with objects stops it."""
    recording = recorded(at)
    doomed = [
        (container.name, key.name)
        for one in recording
        for name in one.options.property_dependencies
        for key in keys_of(recording, one, name)
        for container in data_of(recording, one)
        if key.urn not in before(recording, container)
    ]
    assert doomed == []


def data_of(recording: Recording, one: RecordedResource) -> list[RecordedResource]:
    """The resource, or the one that it configures, if it holds data: a bucket's encryption is a resource of its own."""
    bucket = [recording.resources[urn] for urn in one.options.property_dependencies.get("bucket", ())]
    return [each for each in (one, *bucket) if each.type in gate.TABLE and each.type != KEY]


def test_the_program_has_data_whose_key_is_in_a_resource_of_its_own() -> None:
    recording = recorded(0)
    configured = {each.name for one in recording for each in data_of(recording, one) if each is not one}
    assert len(configured) == 5, "the buckets"


@variants
def test_only_a_key_that_something_needs_is_retained(at: int) -> None:
    recording = recorded(at)
    needed = {key.urn for _, key in outliving(recording)}
    assert {one.urn for one in recording if one.type == KEY and one.options.retain_on_delete} <= needed


def test_the_variants_have_databases_with_and_without_a_final_snapshot() -> None:
    kept = {
        bool(remains.of(one.type, one.inputs.plain))
        for at in range(len(VARIANTS))
        for one in recorded(at)
        if one.type == DATABASE
    }
    assert kept == {True, False}


@pytest.mark.parametrize(
    ("kind", "inputs", "what"),
    [
        (DATABASE, {"skipFinalSnapshot": True, "finalSnapshotIdentifier": "x"}, ""),
        (DATABASE, {"skipFinalSnapshot": False, "finalSnapshotIdentifier": "x"}, "final snapshot x"),
        (DATABASE, {"finalSnapshotIdentifier": "x"}, "final snapshot x"),
        ("aws:efs/backupPolicy:BackupPolicy", {"backupPolicy": {"status": "DISABLED"}}, ""),
        ("aws:efs/backupPolicy:BackupPolicy", {"backupPolicy": {"status": "ENABLED"}}, "recovery points"),
        ("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", {"ecrRepositoryPrefix": "ml/k8s"}, "ml/k8s/*"),
        ("aws:s3/bucket:Bucket", {}, ""),
    ],
)
def test_what_remains_follows_from_the_inputs(kind: str, inputs: dict[str, Any], what: str) -> None:
    found = remains.of(kind, inputs)
    assert what in found
    assert bool(found) == bool(what)

"""Every input of the types that the stacks use, changed in place: what a preview says is what the update does."""

import functools
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from pulumi import _types
from pulumi.runtime import rpc

from sandbox.aws.client import FAULT, AwsError, Clients
from sandbox.aws.client import World as Shared
from sandbox.aws.kinds import Field, Kind, ListOf, MapOf, ObjectOf, Scalar
from sandbox.aws.limits.members import Member, tree
from sandbox.aws.outputs import simplest
from sandbox.aws.provider import AwsProvider
from sandbox.aws.schema import schema, tokens
from sandbox.aws.types import MAPPINGS
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.alternatives import Alternatives
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.test_stacks import plain
from tests.support import stacks

ASSOCIATION = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
OUR_FAULTS = (FAULT, "InvalidParameter")
"""Codes of answers that AWS does not give: moto's own fault, and a request that botocore refuses to send."""
PYTHON = {"str": str, "int": int, "float": (int, float), "bool": bool}


@dataclass
class Object:
    """An object whose inputs change one after the other; each change takes back the one before it."""

    provider: AwsProvider
    world: World
    type: str
    id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]

    @property
    def resource(self) -> Resource:
        return Resource(f"urn:pulumi:s::p::{self.type}::thing", self.type, "thing")

    @property
    def fields(self) -> Mapping[str, Field]:
        known = schema(self.type)
        assert known is not None
        return known.outputs

    def change(self, base: Mapping[str, Any]) -> list[str] | None:
        """Preview a change and make it. None if it is refused or a replacement, else all that is wrong."""
        aws, of = self.world.aws, self.resource
        news, failures = self.provider.check(aws, of, {**base}, self.inputs, b"seed")
        found = self.provider.diff(aws, of, self.id, self.inputs, self.outputs, news)
        if failures or not found.changes or any(change.replace for change in found.changes):
            return None
        try:
            preview = self.provider.preview_update(aws, of, self.id, self.outputs, news, self.inputs)
            outputs = self.provider.update(aws, of, self.id, self.outputs, news, self.inputs)
        except ProviderError as error:
            cause = error if isinstance(error, AwsError) else error.__cause__
            assert isinstance(cause, AwsError), f"{self.type}: {base}"
            return [f"{cause}"] if cause.code in OUR_FAULTS else None
        wrong = [
            *(f"at preview {problem}" for problem in mismatches(self.fields, preview)),
            *mismatches(self.fields, outputs),
            *contradictions(preview, outputs),
            *self.forgotten(preview, {str(change.path[0]) for change in found.changes}),
        ]
        if again := self.provider.diff(aws, of, self.id, news, outputs, news).changes:
            wrong.append(f"is not settled: {again}")
        self.inputs, self.outputs = news, outputs
        return wrong

    def forgotten(self, preview: Mapping[str, Any], changed: set[str]) -> Iterator[str]:
        """Outputs that nothing has changed, and that a preview does not know all the same."""
        mapping = MAPPINGS.get(self.type)
        may = {"tagsAll", *changed, *(mapping.volatile if mapping else ())}
        for name, value in self.outputs.items():
            if name not in may and preview.get(name) != value:
                yield f"{name} was {value!r} and is {preview.get(name)!r} at preview"


def mismatches(fields: Mapping[str, Field], outputs: Mapping[str, Any]) -> Iterator[str]:
    """Outputs of another kind than the SDK's annotation says."""
    for name, value in outputs.items():
        yield from _mismatches(fields[name].kind, value, name)


def _mismatches(kind: Kind, value: Any, at: str) -> Iterator[str]:
    kind = simplest(kind)
    if value in (None, UNKNOWN):
        return
    if isinstance(kind, Scalar):
        if not isinstance(value, PYTHON[kind.name]) or (isinstance(value, bool) and kind.name != "bool"):  # type: ignore[arg-type]
            yield f"{at} is {value!r}, not {kind.name}"
    elif isinstance(kind, ListOf):
        for item in value:
            yield from _mismatches(kind.item, item, f"{at}[]")
    elif isinstance(kind, (MapOf, ObjectOf)):
        for name, item in value.items():
            below = kind.item if isinstance(kind, MapOf) else kind.fields[name].kind
            yield from _mismatches(below, item, f"{at}.{name}")


def contradictions(preview: Any, outputs: Any, at: str = "") -> Iterator[str]:
    """Values that a preview knows, and that are others after the update. Inside an object, none is a known value."""
    if isinstance(preview, Mapping) and isinstance(outputs, Mapping):
        for name in sorted({*preview} | ({*outputs} if at else set())):
            yield from contradictions(preview.get(name), outputs.get(name), f"{at}.{name}".strip("."))
    elif isinstance(preview, list) and isinstance(outputs, list) and len(preview) == len(outputs):
        for one, other in zip(preview, outputs, strict=True):
            yield from contradictions(one, other, f"{at}[]")
    elif preview not in (UNKNOWN, outputs):
        yield f"{at} is {preview!r} at preview and {outputs!r} afterwards"


@functools.cache
def annotated(type_token: str) -> Mapping[str, type]:
    module, name = tokens()[type_token]
    return _types.resource_types(getattr(importlib.import_module(module), name))


def read_by_the_sdk(type_token: str, outputs: Mapping[str, Any]) -> None:
    """Raises AssertionError where the SDK stops the program."""
    for name, value in outputs.items():
        rpc.translate_output_properties(value, str, annotated(type_token).get(name), True)


def first_inputs(world: World, type_token: str, recorded: Mapping[str, Any]) -> dict[str, Any]:
    if type_token in SAMPLES:
        return SAMPLES[type_token].inputs(world)
    if type_token == ASSOCIATION:
        return {**recorded, "fileSystemId": world.make(LUSTRE, **SAMPLES[LUSTRE].inputs(world))[0]}
    objects = {
        "bucket": world.bucket,
        "targetBucket": world.bucket,
        "fileSystemId": world.file_system,
        "autoscalingGroupName": world.scaling_group,
    }
    return {name: objects[name]() if name in objects else value for name, value in recorded.items()}


def changes(others: Alternatives, one: Object, base: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each input, at any depth, with another value, and without the optional ones that are set."""
    known, members = schema(one.type), tree(one.world.aws, one.type)
    assert known is not None
    for name, field in known.inputs.items():
        member = members.members.get(name, Member(name)) if members else Member(name)
        for path, value in others.of(name, field.kind, member, base.get(name)):
            yield path, {**base, name: value}
        if name in base and not field.required:
            yield f"{name} removed", {key: value for key, value in base.items() if key != name}


@pytest.fixture(scope="module")
def used() -> Mapping[str, dict[str, Any]]:
    """The types that the stacks use, with inputs of one of each."""
    found = [one for stack in stacks.NAMES for one in stacks.recorded(stack) if one.type.startswith("aws:")]
    return {one.type: plain(one) for one in found}


def test_a_preview_of_any_change_in_place_passes_and_says_what_the_update_does(
    clients: Clients, world: World, used: Mapping[str, dict[str, Any]]
) -> None:
    provider, others = AwsProvider(Shared(clients)), Alternatives(world)
    wrong: list[str] = []
    made = 0
    for type_token in sorted(used):
        base = first_inputs(world, type_token, used[type_token])
        one = Object(provider, world, type_token, "", {}, {})
        one.inputs, failures = provider.check(world.aws, one.resource, base, {}, b"seed")
        assert failures == [], type_token
        one.id, one.outputs = provider.create(world.aws, one.resource, one.inputs)
        done: set[str] = set()
        for path, inputs in changes(others, one, base):
            if path not in done and (found := one.change(inputs)) is not None:
                done.add(path)
                wrong += [f"{type_token} {path}: {problem}" for problem in found]
        read_by_the_sdk(type_token, one.outputs)
        live = provider.read(world.aws, one.resource, one.id, one.outputs, one.inputs)
        assert live is not None
        assert {**live.outputs} == one.outputs, type_token
        made += len(done)
    assert wrong == []
    # What the provider refuses of made-up values is no change: 782 are made (2026-11-23).
    assert made > 750

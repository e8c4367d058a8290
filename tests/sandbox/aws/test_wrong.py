"""Wrong inputs are refused: what the inputs say alone at preview, the rest before the object exists."""

import functools
import re
from typing import Any

import pytest

from sandbox.aws import validators
from sandbox.aws.client import FAULT, AwsError
from sandbox.aws.client import World as Shared
from sandbox.aws.provider import AwsProvider
from sandbox.aws.schema import schema
from sandbox.aws.types import OPERATIONS
from sandbox.rpc.errors import PartialFailureError
from sandbox.rpc.hooks import Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.wrong import Wrong, cases, rights

ALL = tuple(cases())
AT_PREVIEW = [one for one in ALL if one.at]
AT_UP = [one for one in ALL if one.up]
RIGHT = tuple(rights())
SHARE = 0.1
"""Of the rows, those that may be missed."""


@pytest.fixture(scope="module")
def right(world: World) -> Any:
    """The inputs of a type before they are made wrong, once for all rows at preview."""
    return functools.cache(lambda token: SAMPLES[token].inputs(world))


@pytest.fixture
def provider(world: World) -> AwsProvider:
    return AwsProvider(Shared(world.aws.clients))


def of(type_token: str) -> Resource:
    return Resource(f"urn:pulumi:s::p::{type_token}::thing", type_token, "thing")


@pytest.mark.parametrize("row", AT_PREVIEW, ids=[one.name for one in AT_PREVIEW])
def test_what_is_wrong_with_the_inputs_is_refused_at_preview(
    provider: AwsProvider, world: World, right: Any, row: Wrong
) -> None:
    before = row.right(world) if row.base is not None else right(row.type)
    inputs = row.inputs(before, world)
    failures = provider.check(world.aws, of(row.type), inputs, {}, b"seed")[1]
    found = [one.property for one in failures]
    assert any(place.startswith(row.at) or row.at.startswith(f"{place}[") or place == row.at.split(".")[0]
               for place in found), failures  # fmt: skip
    unknown = {name: UNKNOWN if inputs.get(name) != before.get(name) else value for name, value in inputs.items()}
    if row.base is None:
        assert provider.check(world.aws, of(row.type), before, {}, b"seed")[1] == []
        # A value that is not known yet conflicts with others all the same.
        left = provider.check(world.aws, of(row.type), {**before, **unknown}, {}, b"seed")[1]
        assert [one for one in left if not re.search("conflicts with|exactly one of", one.reason)] == []


@pytest.mark.parametrize("row", AT_UP, ids=[one.name for one in AT_UP])
def test_what_is_wrong_with_another_object_is_refused_at_up(provider: AwsProvider, world: World, row: Wrong) -> None:
    resource = of(row.type)
    inputs, failures = provider.check(world.aws, resource, row.inputs(row.right(world), world), {}, b"seed")
    assert failures == []
    if row.twice:
        provider.create(world.aws, resource, inputs)
    with pytest.raises((AwsError, PartialFailureError)) as raised:
        provider.create(world.aws, resource, inputs)
    error = raised.value if isinstance(raised.value, AwsError) else raised.value.__cause__
    assert isinstance(error, AwsError)
    assert error.code != FAULT


@pytest.mark.parametrize("row", RIGHT, ids=[one.name for one in RIGHT])
def test_what_a_stricter_check_would_refuse_is_accepted(provider: AwsProvider, world: World, row: Wrong) -> None:
    inputs, failures = provider.check(world.aws, of(row.type), row.inputs(row.right(world), world), {}, b"seed")
    assert failures == []
    if row.up:
        provider.create(world.aws, of(row.type), inputs)


def test_what_is_missed_is_said_with_a_reason() -> None:
    missed = [one for one in ALL if not one.at and not one.up]
    assert all(one.missed for one in missed)
    assert len(missed) <= SHARE * len(ALL)
    names = [one.name for one in ALL]
    assert sorted({*names}) == sorted(names)


def test_the_rows_of_validators_are_of_inputs_that_exist() -> None:
    """Another name in a later version of the provider would refuse nothing."""
    for token in OPERATIONS:
        known = schema(token)
        assert known is not None
        for path, found in validators.paths(token).items():
            fields, place = known.inputs, path.split(".")
            for part in place[:-1]:
                kind = fields[part].kind
                fields = getattr(kind, "item", kind).fields  # type: ignore[union-attr]
            assert place[-1] in fields, f"{token} {path}"
            names = {name for one in found for name in (*one.names, *one.when[:1])}
            assert {name for name in names if name not in fields and name.lstrip("/") not in known.inputs} == set()

"""Wrong inputs are refused: what the inputs say alone at preview, the rest before the object exists."""

import functools
import re
from dataclasses import replace
from typing import Any

import pytest

from sandbox.aws.client import FAULT, Aws
from sandbox.aws.client import World as Shared
from sandbox.aws.provider import AwsProvider
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.hooks import Failure, Resource
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.samples.world import PROCESSES
from tests.sandbox.aws.wrong import Wrong, cases, rights

ALL = tuple(cases())
AT_PREVIEW = [one for one in ALL if one.at]
AT_UP = [one for one in ALL if one.up]
RIGHT = tuple(rights())
SHARE = 0.1
"""Of the rows, those that may be missed."""
TAGS = {f"k{index}": "v" for index in range(51)}
"""One more than an object may have."""


@pytest.fixture(scope="module")
def right(world: World) -> Any:
    """The inputs of a type before they are made wrong, once for all rows at preview."""
    return functools.cache(lambda token: SAMPLES[token].inputs(world))


@pytest.fixture
def provider(world: World) -> AwsProvider:
    return AwsProvider(Shared(world.aws.clients, processes=PROCESSES))


def of(type_token: str) -> Resource:
    return Resource(f"urn:pulumi:s::p::{type_token}::thing", type_token, "thing")


def previewed(provider: AwsProvider, world: World, type_token: str, inputs: dict[str, Any]) -> str:
    """What is refused of a creation at preview, by the provider or by the account; empty if nothing is."""
    resource = of(type_token)
    checked, failures = provider.check(world.aws, resource, inputs, {}, b"seed")
    if failures:
        return "; ".join(f"{one.property}: {one.reason}" for one in failures)
    try:
        provider.preview_create(world.aws, resource, checked)
    except ProviderError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("row", AT_PREVIEW, ids=[one.name for one in AT_PREVIEW])
def test_what_is_wrong_with_the_inputs_is_refused_at_preview(
    provider: AwsProvider, world: World, right: Any, row: Wrong
) -> None:
    before = row.right(world) if row.base is not None else right(row.type)
    inputs = row.inputs(before, world)
    said = previewed(provider, world, row.type, inputs)
    assert said
    assert row.code in said
    unknown = {name: UNKNOWN if inputs.get(name) != before.get(name) else value for name, value in inputs.items()}
    if row.base is None or row.code:
        assert previewed(provider, world, row.type, before) == ""
        # A value that is not known yet conflicts with others all the same.
        left = previewed(provider, world, row.type, {**before, **unknown})
        assert left == "" or re.search("[Cc]onflict|exactly one of|must be specified", left)


@pytest.mark.parametrize("row", AT_UP, ids=[one.name for one in AT_UP])
def test_what_is_wrong_with_another_object_is_refused_at_up(provider: AwsProvider, world: World, row: Wrong) -> None:
    resource = of(row.type)
    inputs, failures = provider.check(world.aws, resource, row.inputs(row.right(world), world), {}, b"seed")
    assert failures == []
    if row.twice:
        provider.create(world.aws, resource, inputs)
    with pytest.raises(ProviderError) as raised:
        provider.create(world.aws, resource, inputs)
    assert row.code in str(raised.value)
    assert FAULT not in str(raised.value)


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


def check(provider: AwsProvider, aws: Aws, type_token: str, inputs: dict[str, Any]) -> list[Failure]:
    return provider.check(aws, of(type_token), inputs, {}, b"seed")[1]


def test_the_default_tags_count(provider: AwsProvider, world: World) -> None:
    vpc = {"cidrBlock": "10.0.0.0/16"}
    at_most = replace(world.aws, default_tags=dict(list(TAGS.items())[:50]))
    assert check(provider, at_most, "aws:ec2/vpc:Vpc", vpc) == []
    for token, inputs, code in (
        ("aws:ec2/vpc:Vpc", vpc, "TagLimitExceeded"),
        ("aws:s3/bucket:Bucket", {}, "InvalidTag"),
    ):
        failures = check(provider, at_most, token, {**inputs, "tags": {"one": "more"}})
        assert [one.reason.split(":")[0] for one in failures] == [code]
    route = {"routeTableId": "rtb-1", "destinationCidrBlock": "0.0.0.0/0", "gatewayId": "igw-1"}
    assert check(provider, replace(world.aws, default_tags=TAGS), "aws:ec2/route:Route", route) == [], "it has no tags"


def test_the_key_of_a_tag_has_128_characters_at_most(provider: AwsProvider, world: World) -> None:
    for size, codes in ((128, []), (129, ["InvalidParameterValue"])):
        vpc = {"cidrBlock": "10.0.0.0/16", "tags": {"k" * size: "a"}}
        found = check(provider, world.aws, "aws:ec2/vpc:Vpc", vpc)
        assert [one.reason.split(":")[0] for one in found] == codes


def test_what_is_known_beside_an_unknown_is_evaluated(provider: AwsProvider, world: World, right: Any) -> None:
    """At the first preview of a stack no subnet has an id."""
    token, closed = "aws:eks/cluster:Cluster", {"subnetIds": [UNKNOWN, UNKNOWN], "endpointPublicAccess": False}
    inputs = {**right(token), "name": world.unique("closed"), "vpcConfig": closed}
    assert "cannot both be disabled" in previewed(provider, world, token, inputs)


def test_an_update_to_a_minimum_above_the_maximum_is_refused_like_a_creation(
    provider: AwsProvider, world: World, right: Any
) -> None:
    token, sizes = "aws:eks/nodeGroup:NodeGroup", {"minSize": 5, "desiredSize": 2, "maxSize": 2}
    inputs = {**right(token), "nodeGroupName": "updated"}
    id, outputs = provider.create(world.aws, of(token), inputs)
    with pytest.raises(ProviderError, match="InvalidParameterException: Minimum capacity 5"):
        provider.preview_update(world.aws, of(token), id, outputs, {**inputs, "scalingConfig": sizes}, inputs)

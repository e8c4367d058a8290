"""The three stacks have nothing that AWS's models or the rules refuse."""

import json
from typing import Any

import pytest

from sandbox.aws.client import Clients, World, session
from sandbox.aws.provider import AwsProvider
from sandbox.rpc.hooks import Failure, Resource
from sandbox.rpc.wire import UNKNOWN
from slipway.render.layout import as_data
from slipway.render.recording import RecordedResource
from tests.sandbox.aws.samples.world import PROCESSES
from tests.support.stacks import recorded


def plain(one: RecordedResource) -> dict[str, Any]:
    inputs: dict[str, Any] = json.loads(json.dumps(as_data(one)["inputs"]).replace("[unknown]", UNKNOWN))
    return inputs


@pytest.mark.parametrize("preview", [False, True])
@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_nothing_of_a_stack_is_refused_at_preview(stack: str, preview: bool, clients: Clients) -> None:
    recording = recorded(stack, preview=preview)
    world = World(clients, processes=PROCESSES)
    provider, aws = AwsProvider(world), session(world, plain(recording.named("aws")))
    checked = 0
    refused: list[tuple[str, Failure]] = []
    for one in recording:
        if one.type.startswith("aws:"):
            inputs = plain(one)
            resource = Resource(one.urn, one.type, one.name)
            given, failures = provider.check(aws, resource, inputs, {}, b"seed")
            if preview:
                # Raises an error for what the account would refuse.
                provider.preview_create(aws, resource, given)
            checked, refused = checked + 1, [*refused, *((one.name, failure) for failure in failures)]
    assert checked > 200
    assert refused == []

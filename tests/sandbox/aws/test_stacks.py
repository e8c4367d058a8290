"""The three stacks have nothing that AWS's models or the rules refuse."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.aws import documented, provider, validators
from sandbox.aws.client import Aws, Clients, World, session
from sandbox.aws.documented import statements
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.provider import AwsProvider
from sandbox.aws.schema import schema
from sandbox.aws.statements import Word
from sandbox.rpc.hooks import Failure, Resource
from sandbox.rpc.wire import UNKNOWN
from slipway.render.layout import as_data
from slipway.render.recording import RecordedResource
from spec.strict_yaml import rows
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
            failures = provider.check(aws, Resource(one.urn, one.type, one.name), inputs, {}, b"seed")[1]
            checked, refused = checked + 1, [*refused, *((one.name, failure) for failure in failures)]
    assert checked > 200
    assert refused == []


# What the provider's documentation says of inputs: the phrases that are read, and what they refuse of real types.


ROWS = dict(rows(Path(__file__).with_name("documented.yaml")))
SOURCES = {"scheduling_strategy": "schedulingStrategy", "size": "size", "vpc_id": "/vpcId", "subnet_id": "subnetId"}


@pytest.mark.parametrize("row", ROWS.values(), ids=[f"{place}-{row['id']}" for place, row in ROWS.items()])
def test_what_the_documentation_refuses(aws: Aws, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validators, "of", lambda _: lambda _: ())
    inputs = {name: UNKNOWN if value == "UNKNOWN" else value for name, value in row["inputs"].items()}
    found = {one.property: one.reason for one in provider.check(aws, row["type"], inputs)}
    assert set(found) == ({row["at"], *row.get("also", ())} if "at" in row else set())
    assert row.get("says", "") in found.get(row.get("at", ""), "")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Conflicts with `size` and a `subnet_id`.", [(Word.CONFLICTS, ("size", "subnetId"), ())]),
        ("**Conflicts with** `vpc_id`", [(Word.CONFLICTS, ("/vpcId",), ())]),
        ("Conflicts with `elsewhere`.", []),
        ("Exactly one of `size` or `vpc_id` must be specified.", [(Word.ONE, ("size", "/vpcId"), ())]),
        ("Exactly one of `size` or `elsewhere` must be specified.", []),
        ("Required if `size` is not specified.", [(Word.SOME, ("own", "size"), ())]),
        ("Required if `size` is `large` or `huge`.", [(Word.NEEDED, ("size",), ("large", "huge"))]),
        ("Only valid for `size` of `large`.", [(Word.ONLY, ("size",), ("large",))]),
        ("Valid values: `a`, `b` (default), and `c`. Read on.", [(Word.VALUES, (), ("a", "b", "c"))]),
        # Each is a list of some cases only, or goes on.
        ("For binpack, valid values are `cpu` and `memory`.", []),
        ("Valid values are `a`, `b`. `c` is also valid.", []),
        ("Valid values are `a`, `b`. With a size: Valid values are `d`, `e`.", []),
        ("Valid values are `a`, `b` and numbers.", []),
        ("Valid values are `region`.", []),
        ("Valid values are between `1` and `20`.", [(Word.RANGE, (), ("1", "20"))]),
        ("Must be between 1,000 and 15,000,000.", [(Word.RANGE, (), ("1000", "15000000"))]),
        ("The name must be between 1 and 256 characters.", [(Word.LENGTH, (), ("1", "256"))]),
        ("Anything else is said in no way that is known.", []),
    ],
)
def test_a_phrase_is_read_as_it_is_meant(text: str, found: list[tuple[Word, tuple[str, ...], tuple[str, ...]]]) -> None:
    read = statements("own", text, SOURCES.get)
    assert [(one.word, one.names, one.values) for one in read] == found


def test_the_documentation_of_the_installed_provider_has_these_phrases() -> None:
    """Another wording in a later version would silently refuse nothing."""
    said = [one for token in OPERATIONS for field in schema(token).inputs.values() for one in field.says]  # type: ignore[union-attr]
    assert {one.word for one in said} == {word for word, _ in documented.PHRASES}
    assert len(said) > 80

"""The Terraform AWS provider judges ours: every AWS resource of the stacks, and which changes replace an object."""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.aws.replacement import forces_new
from sandbox.toolchain import locate
from sandbox.toolchain.tools import get
from slipway.render.terraform import argument, terraform_type
from tests.sandbox.aws.upstream.messages import UNKNOWN, pack, unpack
from tests.sandbox.aws.upstream.plans import KNOWN, TOOL, changed, configuration, planned, resources
from tests.sandbox.aws.upstream.plugin import Plugin, RefusedError
from tests.support.stacks import NAMES, recorded


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugin]:
    """A provider that is configured for nowhere: validating and planning ask no account."""
    found = locate.search(get(TOOL))
    if found is None:
        pytest.skip(f"{TOOL} is not built: `python -m sandbox.toolchain ensure {TOOL}` builds it")
    with Plugin(found.path, tmp_path_factory.mktemp("upstream") / "log") as started:
        started.configure(
            {
                "region": "us-west-2",
                "access_key": "a",
                "secret_key": "b",
                "skip_credentials_validation": True,
                "skip_requesting_account_id": True,
                "skip_metadata_api_check": "true",
            }
        )
        yield started


def test_values_survive_the_wire() -> None:
    value = {"a": None, "b": [1, -5, 2**40, 1.5, True, False, UNKNOWN], "c": "é" * 300, "d": {"e": [], "f": "x"}}
    assert unpack(pack(value)) == value


@pytest.mark.parametrize("stack", NAMES)
def test_the_provider_accepts_what_ours_accepts(plugin: Plugin, stack: str) -> None:
    refused: dict[str, str] = {}
    for one, inputs in resources(recorded(stack)):
        name = terraform_type(one.type)
        try:
            config = configuration(plugin.schemas.resource_schemas[name].block, one.type, inputs)
            plugin.call("ValidateResourceTypeConfig", type_name=name, config=pack(config))
            planned(plugin, name, None, config)
        except RefusedError as error:
            refused[f"{one.type} {'.'.join(map(str, error.problems[0][0]))}"] = str(error)
    assert set(refused) <= set(KNOWN["refused"]), refused


def settled(value: Any) -> Any:
    """A planned state as one that was applied."""
    if value is UNKNOWN:
        return None
    if isinstance(value, dict):
        return {key: settled(item) for key, item in value.items()}
    return [settled(item) for item in value] if isinstance(value, list) else value


def test_the_same_changes_replace(plugin: Plugin) -> None:
    found: dict[str, str] = {}
    compared = 0
    samples = {
        (one.type, *sorted(inputs)): (one, inputs) for stack in NAMES for one, inputs in resources(recorded(stack))
    }
    for one, inputs in samples.values():
        name = terraform_type(one.type)
        block = plugin.schemas.resource_schemas[name].block
        try:
            prior = settled(planned(plugin, name, None, configuration(block, one.type, inputs)).state)
        except RefusedError:
            continue
        prior |= {"id": "sample"} if "id" in prior else {}
        for key, value in inputs.items():
            if (other := changed(value)) is None or key == "region":
                continue
            news = {**inputs, key: other}
            try:
                forced = planned(plugin, name, prior, configuration(block, one.type, news)).replacing
            except RefusedError:
                continue
            compared += 1
            theirs = KNOWN["names"].get(argument(key), argument(key)) in forced
            if theirs != forces_new(one.type, (key,), inputs, news):
                found[f"{one.type} {key}"] = "replaces" if theirs else "updates"
    assert compared > 200
    assert found == KNOWN["replaced"]

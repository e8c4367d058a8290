"""The Terraform AWS provider judges ours: every AWS resource of the stacks, and which changes replace an object."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox.aws.replacement import forces_new
from sandbox.rpc.wire import UNKNOWN as PULUMI_UNKNOWN
from sandbox.toolchain import locate
from sandbox.toolchain.tools import get
from slipway.render.layout import as_data
from slipway.render.recording import RecordedResource
from slipway.render.terraform import argument, spell, terraform_type
from spec import strict_yaml
from tests.sandbox.aws.upstream.messages import UNKNOWN, pack, unpack
from tests.sandbox.aws.upstream.plugin import ABSENT, Plugin, RefusedError, complete, path_of, value_of
from tests.support.stacks import NAMES, recorded

KNOWN: Final = strict_yaml.read(Path(__file__).with_name("known.yaml").read_text(encoding="utf-8"))
TOOL: Final = "terraform-provider-aws"


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


def resources(stack: str) -> Iterator[tuple[RecordedResource, dict[str, Any]]]:
    for one in recorded(stack):
        if one.custom and one.type.startswith("aws:"):
            yield one, json.loads(json.dumps(as_data(one)["inputs"]).replace("[unknown]", PULUMI_UNKNOWN))


def configuration(block: Any, token: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs as the configuration of Terraform's type."""
    return complete(block, _block(block, spell(token, inputs)))


def _block(block: Any, values: dict[str, Any]) -> dict[str, Any]:
    kinds = {each.name: json.loads(each.type) for each in block.attributes}
    nested = {each.type_name: each for each in block.block_types}
    result: dict[str, Any] = {}
    for name, value in values.items():
        # A property that pulumi-aws names differently.
        known = KNOWN["names"].get(name, name)
        if known in nested and isinstance(value, list | dict):
            below = [_block(nested[known].block, one) for one in (value if isinstance(value, list) else [value])]
            result[known] = below if nested[known].nesting in (2, 3) else below[0]
        else:
            result[known] = _typed(kinds.get(known), value)
    if missing := result.keys() - kinds.keys() - nested.keys():
        raise RefusedError([((name,), "unknown property") for name in sorted(missing)])
    return result


def _typed(kind: Any, value: Any) -> Any:
    if value == PULUMI_UNKNOWN:
        return UNKNOWN
    if isinstance(kind, list):
        if kind[0] in ("list", "set"):
            return [_typed(kind[1], one) for one in (value if isinstance(value, list) else [value])]
        if kind[0] == "map":
            return {key: _typed(kind[1], one) for key, one in value.items()}
        return {key: _typed(below, value.get(key)) for key, below in kind[1].items()}
    if kind == "string" and value is not None and not isinstance(value, str):
        return json.dumps(value)
    return {"true": True, "false": False}.get(value, value) if kind == "bool" and isinstance(value, str) else value


def planned(plugin: Plugin, type_name: str, prior: Any, config: dict[str, Any]) -> tuple[Any, set[str]]:
    """The planned state, and the attributes whose change replaces the object."""
    proposed = dict(config)
    for each in plugin.schemas.resource_schemas[type_name].block.attributes:
        if each.computed and proposed[each.name] is None and prior is not None:
            proposed[each.name] = prior[each.name]
    before = ABSENT if prior is None else pack(prior)
    after = {"proposed_new_state": pack(proposed), "config": pack(config)}
    answer = plugin.call("PlanResourceChange", type_name=type_name, prior_state=before, **after)
    return value_of(answer.planned_state), {str(path_of(each)[0]) for each in answer.requires_replace}


def test_values_survive_the_wire() -> None:
    value = {"a": None, "b": [1, -5, 2**40, 1.5, True, False, UNKNOWN], "c": "é" * 300, "d": {"e": [], "f": "x"}}
    assert unpack(pack(value)) == value


@pytest.mark.parametrize("stack", NAMES)
def test_the_provider_accepts_what_ours_accepts(plugin: Plugin, stack: str) -> None:
    refused: dict[str, str] = {}
    for one, inputs in resources(stack):
        name = terraform_type(one.type)
        try:
            config = configuration(plugin.schemas.resource_schemas[name].block, one.type, inputs)
            plugin.call("ValidateResourceTypeConfig", type_name=name, config=pack(config))
            planned(plugin, name, None, config)
        except RefusedError as error:
            refused[f"{one.type} {'.'.join(map(str, error.problems[0][0]))}"] = str(error)
    assert set(refused) <= set(KNOWN["refused"]), refused


def changed(value: Any) -> Any:
    """Another value of the same kind; None where there is none that is surely right."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str) and value != PULUMI_UNKNOWN and not value.startswith(("{", "[")):
        return f"{value}0"
    return None


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
    samples = {(one.type, *sorted(inputs)): (one, inputs) for stack in NAMES for one, inputs in resources(stack)}
    for one, inputs in samples.values():
        name = terraform_type(one.type)
        block = plugin.schemas.resource_schemas[name].block
        try:
            prior = settled(planned(plugin, name, None, configuration(block, one.type, inputs))[0])
        except RefusedError:
            continue
        prior |= {"id": "sample"} if "id" in prior else {}
        for key, value in inputs.items():
            if (other := changed(value)) is None or key == "region":
                continue
            news = {**inputs, key: other}
            try:
                forced = planned(plugin, name, prior, configuration(block, one.type, news))[1]
            except RefusedError:
                continue
            compared += 1
            theirs = KNOWN["names"].get(argument(key), argument(key)) in forced
            if theirs != forces_new(one.type, (key,), inputs, news):
                found[f"{one.type} {key}"] = "replaces" if theirs else "updates"
    assert compared > 200
    assert found == KNOWN["replaced"]

"""Resources of a stack as the Terraform AWS provider takes them, and what it plans for them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sandbox.rpc.wire import UNKNOWN as PULUMI_UNKNOWN
from slipway.render.layout import as_data
from slipway.render.recording import RecordedResource, Recording
from slipway.render.terraform import spell
from spec import strict_yaml
from tests.sandbox.aws.upstream.messages import UNKNOWN, pack
from tests.sandbox.aws.upstream.plugin import ABSENT, Plugin, RefusedError, complete, is_many, path_of, value_of

KNOWN: Final = strict_yaml.read(Path(__file__).with_name("known.yaml").read_text(encoding="utf-8"))
TOOL: Final = "terraform-provider-aws"
SET: Final = 3
"""NestingMode.SET."""


def resources(recording: Recording) -> Iterator[tuple[RecordedResource, dict[str, Any]]]:
    """AWS resources with their inputs."""
    for one in recording:
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


def proposed(block: Any, prior: Any, config: Any) -> dict[str, Any]:
    """What Terraform proposes: the configuration, with what was computed before where it says nothing
    (hashicorp/terraform, internal/plans/objchange/objchange.go, ProposedNew)."""
    if prior is None:
        return dict(config)
    result = {
        each.name: prior[each.name] if each.computed and config[each.name] is None else config[each.name]
        for each in block.attributes
    }
    for each in block.block_types:
        name = each.type_name
        if not is_many(each):
            result[name] = None if config[name] is None else proposed(each.block, prior[name], config[name])
            continue
        before = list(prior[name] or ())
        if each.nesting == SET:
            before = [next((old for old in before if _may_be(each.block, old, new)), None) for new in config[name]]
        before += [None] * len(config[name])
        result[name] = [proposed(each.block, old, new) for old, new in zip(before, config[name], strict=False)]
    return result


def _may_be(block: Any, old: Any, new: Any) -> bool:
    """Whether an element of a set is the one of a configuration, apart from what was computed."""
    return all(old[one.name] == new[one.name] or (one.computed and new[one.name] is None) for one in block.attributes)


@dataclass(frozen=True)
class Plan:
    """The planned state, the attributes whose change replaces the object, and what the provider keeps with it."""

    state: Any
    replacing: set[str]
    private: bytes


def planned(plugin: Plugin, type_name: str, prior: Any, config: dict[str, Any] | None, private: bytes = b"") -> Plan:
    """The plan for a configuration; None deletes."""
    block = plugin.schemas.resource_schemas[type_name].block
    wanted = None if config is None else proposed(block, prior, config)
    answer = plugin.call(
        "PlanResourceChange",
        type_name=type_name,
        prior_state=ABSENT if prior is None else pack(prior),
        proposed_new_state=pack(wanted),
        config=pack(config),
        prior_private=private,
    )
    replacing = {str(path_of(each)[0]) for each in answer.requires_replace}
    return Plan(value_of(answer.planned_state), replacing, answer.planned_private)


def changed(value: Any) -> Any:
    """Another value of the same kind; None where there is none that is surely right."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str) and value != PULUMI_UNKNOWN and not value.startswith(("{", "[")):
        return f"{value}0"
    return None

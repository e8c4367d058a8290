"""The outputs of a resource: AWS's values, converted to the SDK's kinds, overlaid with the program's inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from slipway.sandbox.aws import tags
from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.kinds import AnyOf, Kind, ObjectOf, Scalar
from slipway.sandbox.aws.mapping import Inputs, Item, ResourceMapping, fill, pick
from slipway.sandbox.aws.schema import Schema
from slipway.sandbox.aws.shapes import from_api, from_api_value


def from_item(schema: Schema, mapping: ResourceMapping, item: Item) -> dict[str, Any]:
    """The outputs in AWS's description of the object."""
    outputs = from_api(schema.outputs, item)
    for name, expression in mapping.from_item.items():
        value = from_api_value(schema.outputs[name].kind, pick(expression, item))
        if value is not None:
            outputs[name] = value
    return outputs


def complete(aws: Aws, schema: Schema, mapping: ResourceMapping, id: str, inputs: Inputs, item: Item) -> dict[str, Any]:
    """All outputs: live values overlaid with the inputs, and values computed from both."""
    outputs = overlay(schema, from_item(schema, mapping, item), inputs)
    names = {**outputs, **inputs, **aws.names(), "id": id}
    for name, template in mapping.computed.items():
        outputs[name] = fill(template, names)
    return {**outputs, **common(aws, schema, inputs)}


def common(aws: Aws, schema: Schema, inputs: Inputs) -> dict[str, Any]:
    """The outputs that nearly every type has: tags merged with the default tags, region, owner."""
    outputs: dict[str, Any] = {}
    if "tagsAll" in schema.outputs:
        outputs["tagsAll"] = tags.merged(aws, inputs)
    if "region" in schema.outputs:
        outputs["region"] = aws.region
    if "ownerId" in schema.outputs:
        outputs["ownerId"] = aws.account
    return outputs


def overlay(schema: Schema, live: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """The live values overlaid with the inputs, objects property by property: AWS adds properties and changes none."""
    outputs = dict(live)
    for name, value in inputs.items():
        if name in schema.outputs:
            outputs[name] = _over(schema.outputs[name].kind, live.get(name), value)
    if "tags" in outputs and "tags" not in inputs:
        outputs.pop("tags")
    return outputs


def _over(kind: Kind, live: Any, value: Any) -> Any:
    if isinstance(kind, AnyOf):
        kind = kind.options[0]
    if isinstance(kind, ObjectOf) and isinstance(live, Mapping) and isinstance(value, Mapping):
        below = {key: _over(kind.fields[key].kind, live.get(key), item) for key, item in value.items()}
        return {**live, **below}
    if isinstance(kind, Scalar) and kind.name == "str" and isinstance(value, (Mapping, list)):
        return json.dumps(value)
    return value

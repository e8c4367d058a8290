"""The outputs of a resource: AWS's values in the kinds of the SDK, overlaid with inputs, and what a preview knows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sandbox.aws import drift, tags
from sandbox.aws.client import Aws
from sandbox.aws.kinds import AnyOf, Field, Kind, ListOf, MapOf, ObjectOf, Scalar
from sandbox.aws.mapping import Inputs, Item, ResourceMapping, pick
from sandbox.aws.schema import Schema
from sandbox.aws.shapes import fill, from_api, from_api_value
from sandbox.rpc.diff import DEFAULTS_KEY
from sandbox.rpc.wire import UNKNOWN, has_unknown


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
    return finished(aws, schema, mapping, id, inputs, from_item(schema, mapping, item))


def finished(
    aws: Aws, schema: Schema, mapping: ResourceMapping, id: str, inputs: Inputs, live: Mapping[str, Any]
) -> dict[str, Any]:
    """The same, from the outputs in AWS's description."""
    outputs = overlay(schema, live, inputs)
    names = {**outputs, **inputs, **aws.names(), "id": id}
    return {**outputs, **fill(mapping.computed, names), **common(aws, schema, inputs)}


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
    kind = simplest(kind)
    if isinstance(kind, ObjectOf) and isinstance(value, Mapping):
        above = live if isinstance(live, Mapping) else {}
        return {**above, **{key: _over(kind.fields[key].kind, above.get(key), item) for key, item in value.items()}}
    if isinstance(kind, ListOf) and isinstance(value, list):
        rest = list(live) if isinstance(live, list) else []
        return [_over(kind.item, _taken(kind.item, item, rest), item) for item in value]
    return of_kind(kind, value)


def _taken(kind: Kind, wanted: Any, rest: list[Any]) -> Any:
    """The live object in a list that the program means, removed from the rest: AWS answers in another order."""
    if not isinstance(simplest(kind), ObjectOf):
        return None
    found = next((index for index, live in enumerate(rest) if drift.same(kind, wanted, live)), None)
    return None if found is None else rest.pop(found)


def of_kind(kind: Kind, value: Any) -> Any:
    """An input in the form of its output: the AWS provider accepts `"1"` for 1, and an object for a document."""
    kind = simplest(kind)
    if isinstance(kind, MapOf) and isinstance(value, Mapping):
        return {key: of_kind(kind.item, item) for key, item in value.items()}
    if not isinstance(kind, Scalar):
        return value
    if has_unknown(value):
        return UNKNOWN
    return json.dumps(value) if isinstance(value, (Mapping, list)) else from_api_value(kind, value)


def simplest(kind: Kind) -> Kind:
    """The kind in which a value is an output, if it may have several."""
    return kind.options[0] if isinstance(kind, AnyOf) else kind


# What a preview says about the outputs of an object that is to be created or changed.
#
# The outputs of an object are its inputs and what AWS adds, also inside the inputs: the group of a cluster is in its
# `vpcConfig`. A preview that loses it gives the program an empty group, and an unknown one where nothing changes makes
# everything that reads it change too. So what the program does not set stays, as an optional and computed attribute of
# the AWS provider does (terraform-plugin-sdk v2.40.1, helper/schema/schema.go: "If we have an old value and no new
# value is set [...] and we're computed, then nothing has changed").


def planned_creation(schema: Schema, inputs: Inputs) -> dict[str, Any]:
    """The outputs of a new object: its inputs, and UNKNOWN for the other properties of an object among them."""
    return _only(inputs, _object(schema.outputs, {}, {}, inputs))


def planned_change(
    aws: Aws, schema: Schema, mapping: ResourceMapping | None, id: str, olds: Inputs, old_inputs: Inputs, inputs: Inputs
) -> dict[str, Any]:
    """The outputs of a changed object.

    Known are what the program sets and what it never set. An input that it no longer sets becomes AWS's default, which
    the SDK does not say. An object in a list is the same one if all that the program sets of it is the same; of another
    one, only what the program sets is known. A map has no keys but the program's.
    """
    imported = set(old_inputs.get(DEFAULTS_KEY) or ())
    before = {key: value for key, value in old_inputs.items() if key not in imported}
    outputs = _only({**olds, **inputs}, _object(schema.outputs, olds, before, inputs))
    names = {**outputs, **inputs, **aws.names(), "id": id}
    for name, template in (mapping.computed if mapping is not None else {}).items():
        outputs[name] = _filled(template, names)
    return outputs


def _only(present: Inputs, outputs: dict[str, Any]) -> dict[str, Any]:
    """Without those that nothing is known about: to the program a missing output is unknown, a missing part is None."""
    return {key: value for key, value in outputs.items() if key in present}


def _object(fields: Mapping[str, Field], old: Inputs, before: Inputs, new: Inputs) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    for name, field in fields.items():
        if name in new:
            outputs[name] = _value(field.kind, old.get(name), before.get(name), new[name])
        else:
            outputs[name] = old[name] if name in old and name not in before else UNKNOWN
    return outputs


def _value(kind: Kind, old: Any, before: Any, new: Any) -> Any:
    kind = simplest(kind)
    if new == before and old is not None:
        return old
    if isinstance(kind, ObjectOf) and isinstance(new, Mapping):
        return _object(kind.fields, old or {}, before or {}, new)
    if isinstance(kind, ListOf) and isinstance(new, list):
        return [_element(kind.item, old or [], before or [], item) for item in new]
    return of_kind(kind, new)


def _element(kind: Kind, old: list[Any], before: list[Any], new: Any) -> Any:
    same = next((out for out, given in zip(old, before, strict=False) if given == new), None)
    return _value(kind, same, None if same is None else new, new)


def _filled(template: Any, names: Inputs) -> Any:
    """The output that a template computes; unknown if it uses an unknown or a missing value."""
    try:
        value = fill(template, names)
    except KeyError:
        return UNKNOWN
    return UNKNOWN if UNKNOWN in json.dumps(value) else value

"""Tags: merging the provider's default tags with a resource's own, sending, reading and comparing them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.aws.client import Aws
from sandbox.aws.kinds import MapOf, Scalar
from sandbox.aws.mapping import Inputs, Item, ResourceMapping, find
from sandbox.aws.shapes import fill, from_api_value, normal, to_api

RESERVED = "aws:"
"""Prefix of keys that only AWS can set or remove."""

_TAG_MEMBERS = ("tag", "tagset", "tagslist", "resourcetag")


def merged(aws: Aws, inputs: Inputs) -> dict[str, str]:
    """Default tags overlaid with the resource's own, as in `tagsAll`."""
    own = inputs.get("tags") or {}
    return {key: str(value) for key, value in {**aws.default_tags, **own}.items()}


def change(aws: Aws, mapping: ResourceMapping, names: Inputs, old: Mapping[str, str], new: Mapping[str, str]) -> None:
    """Change the tags of a live object from `old` to `new`."""
    if mapping.tags is None:
        return
    if mapping.tags.replace is not None:
        mapping.tags.replace(aws, str(names["id"]), {"tags": new})
        return
    target = fill(mapping.tags.target, names)
    removed = sorted(set(old) - set(new))
    if removed:
        parameters = _untag_parameters(aws, mapping.service, mapping.tags.untag, removed)
        aws.call(mapping.service, mapping.tags.untag, **parameters, **target)
    if new:
        shape = aws.input_shape(mapping.service, mapping.tags.tag)
        aws.call(mapping.service, mapping.tags.tag, **{**to_api(shape, {"tags": dict(new)}), **target})


def _untag_parameters(aws: Aws, service: str, operation: str, keys: list[str]) -> dict[str, Any]:
    """EC2 takes [{Key}], other services a list of keys."""
    members = aws.input_shape(service, operation).members
    name = next(member for member in members if normal(member) in ("tag", "tagkey"))
    return {name: [{"Key": key} for key in keys] if service == "ec2" else keys}


def live(aws: Aws, mapping: ResourceMapping, names: Inputs, item: Item) -> dict[str, str] | None:
    """The tags of a live object; None if they can't be read."""
    if mapping.tags is None:
        return None
    source: Any = item
    if mapping.tags.read is not None:
        source = find(aws, mapping.service, mapping.tags.read, names) or {}
        if not isinstance(source, Mapping) or not any(normal(key) in _TAG_MEMBERS for key in source):
            source = {"Tags": source}
    listed = next((value for key, value in source.items() if normal(key) in _TAG_MEMBERS), None)
    tags = from_api_value(MapOf(Scalar("str")), listed) if listed else {}
    return {key: value for key, value in (tags or {}).items() if not key.startswith(RESERVED)}


def own(aws: Aws, wanted: Mapping[str, str], live_tags: Mapping[str, str]) -> dict[str, str]:
    """The live tags that are the resource's own: without those that come from the provider's default tags."""
    return {key: value for key, value in live_tags.items() if key in wanted or aws.default_tags.get(key) != value}

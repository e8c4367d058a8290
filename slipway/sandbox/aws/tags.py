"""Tags: the provider's default tags merged with a resource's own, sent, read back and compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.kinds import MapOf, Scalar
from slipway.sandbox.aws.mapping import Inputs, Item, ResourceMapping, fill, find
from slipway.sandbox.aws.shapes import from_api_value, normal, to_api

RESERVED = "aws:"
"""Keys AWS sets itself, which nobody else can set or remove."""

_TAG_MEMBERS = ("tag", "tagset", "tagslist", "resourcetag")


def merged(aws: Aws, inputs: Inputs) -> dict[str, str]:
    """Default tags with the resource's own over them, as `tagsAll` shows them."""
    own = inputs.get("tags") or {}
    return {key: str(value) for key, value in {**aws.default_tags, **own}.items()}


def change(aws: Aws, mapping: ResourceMapping, names: Inputs, old: Mapping[str, str], new: Mapping[str, str]) -> None:
    """Make the tags of a live object `new`."""
    if mapping.tags is None:
        return
    if mapping.tags.replace is not None:
        mapping.tags.replace(aws, str(names["id"]), {"tags": new})
        return
    target = fill(mapping.tags.target, names)
    gone = sorted(set(old) - set(new))
    if gone:
        aws.call(
            mapping.service, mapping.tags.untag, **_without(aws, mapping.service, mapping.tags.untag, gone), **target
        )
    if new:
        shape = aws.input_shape(mapping.service, mapping.tags.tag)
        aws.call(mapping.service, mapping.tags.tag, **{**to_api(shape, {"tags": dict(new)}), **target})


def _without(aws: Aws, service: str, operation: str, gone: list[str]) -> dict[str, Any]:
    """EC2 wants [{Key}], the others a list of keys."""
    members = aws.input_shape(service, operation).members
    name = next(member for member in members if normal(member) in ("tag", "tagkey"))
    return {name: [{"Key": key} for key in gone] if service == "ec2" else gone}


def live(aws: Aws, mapping: ResourceMapping, names: Inputs, item: Item) -> dict[str, str] | None:
    """The tags of a live object, None where they cannot be read."""
    if mapping.tags is None:
        return None
    source: Any = item
    if mapping.tags.read is not None:
        source = find(aws, mapping.service, mapping.tags.read, names) or {}
        if not isinstance(source, Mapping) or not any(normal(key) in _TAG_MEMBERS for key in source):
            source = {"Tags": source}
    found = next((value for key, value in source.items() if normal(key) in _TAG_MEMBERS), None)
    tags = from_api_value(MapOf(Scalar("str")), found) if found else {}
    return {key: value for key, value in (tags or {}).items() if not key.startswith(RESERVED)}


def own(aws: Aws, wanted: Mapping[str, str], found: Mapping[str, str]) -> dict[str, str]:
    """The live tags as the resource's own: without those that the provider's default tags account for."""
    return {key: value for key, value in found.items() if key in wanted or aws.default_tags.get(key) != value}

"""Names that AWS requires and a program may leave out.

As pulumi-aws makes them: `<logical name>-<7 hex digits>`, or what the engine proposes after the project's
`pulumi:autonaming`, cut to what the service takes.
"""

from __future__ import annotations

import hashlib
from typing import Any

from slipway.sandbox.aws.mapping import ResourceMapping
from slipway.sandbox.aws.schema import Schema
from slipway.sandbox.rpc.diff import DEFAULTS_KEY
from slipway.sandbox.rpc.hooks import Resource

DIGITS = 7
PROPERTY = "name"


def property_of(mapping: ResourceMapping | None) -> str:
    """The input that holds a type's name."""
    return mapping.name if mapping else PROPERTY


def with_name(
    schema: Schema,
    mapping: ResourceMapping | None,
    resource: Resource,
    news: dict[str, Any],
    olds: dict[str, Any],
    seed: bytes,
) -> dict[str, Any]:
    """The inputs with a name. One made earlier is kept, or every run would replace the object."""
    name = property_of(mapping)
    prefix = f"{name}Prefix"
    if name not in schema.inputs or news.get(name) is not None:
        return news
    if DEFAULTS_KEY in olds and name in olds[DEFAULTS_KEY] and olds.get(prefix) == news.get(prefix) and name in olds:
        made = olds[name]
    else:
        made = _make(mapping, resource, news.get(prefix), seed)
    return {**news, name: made, DEFAULTS_KEY: [name]}


def is_made(inputs: dict[str, Any], name: str) -> bool:
    """Whether the name was made here, so that a replacement can live beside the old object."""
    return name in (inputs.get(DEFAULTS_KEY) or ())


def _make(mapping: ResourceMapping | None, resource: Resource, prefix: str | None, seed: bytes) -> str:
    form = mapping.name_form if mapping else "{}"
    limit = (mapping.name_limit if mapping else 255) - len(form.format(""))
    if resource.proposed_name and prefix is None:
        stem = resource.proposed_name[:limit]
    else:
        digits = hashlib.sha256(seed + resource.urn.encode()).hexdigest()[:DIGITS]
        stem = (prefix if prefix is not None else f"{resource.name}-")[: limit - DIGITS] + digits
    made = form.format(stem)
    return made.lower() if mapping and mapping.service == "s3" else made

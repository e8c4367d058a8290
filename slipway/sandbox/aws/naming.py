"""Names that AWS requires and a program may omit.

They have the form of pulumi-aws: `<logical name>-<7 hex digits>`, or the engine's proposal by the project's
`pulumi:autonaming`, truncated to the service's limit.
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
    """The input with a type's name."""
    return mapping.name if mapping else PROPERTY


def with_name(
    schema: Schema,
    mapping: ResourceMapping | None,
    resource: Resource,
    news: dict[str, Any],
    olds: dict[str, Any],
    seed: bytes,
) -> dict[str, Any]:
    """The inputs with a name. A name generated earlier is kept; otherwise every run would replace the object."""
    name = property_of(mapping)
    prefix = f"{name}Prefix"
    if name not in schema.inputs or news.get(name) is not None:
        return news
    if DEFAULTS_KEY in olds and name in olds[DEFAULTS_KEY] and olds.get(prefix) == news.get(prefix) and name in olds:
        generated = olds[name]
    else:
        generated = _generate(mapping, resource, news.get(prefix), seed)
    return {**news, name: generated, DEFAULTS_KEY: [name]}


def is_generated(inputs: dict[str, Any], name: str) -> bool:
    """Whether the name was generated here, so that a replacement can exist beside the old object."""
    return name in (inputs.get(DEFAULTS_KEY) or ())


def _generate(mapping: ResourceMapping | None, resource: Resource, prefix: str | None, seed: bytes) -> str:
    form = mapping.name_form if mapping else "{}"
    limit = (mapping.name_limit if mapping else 255) - len(form.format(""))
    if resource.proposed_name and prefix is None:
        stem = resource.proposed_name[:limit]
    else:
        digits = hashlib.sha256(seed + resource.urn.encode()).hexdigest()[:DIGITS]
        stem = (prefix if prefix is not None else f"{resource.name}-")[: limit - DIGITS] + digits
    name = form.format(stem)
    return name.lower() if mapping and mapping.service == "s3" else name

"""Names that AWS requires and a program may omit.

They have the form of pulumi-aws: `<logical name>-<7 hex digits>`, or the engine's proposal by the project's
`pulumi:autonaming`, truncated to the service's limit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from sandbox.aws.schema import Schema
from sandbox.rpc.diff import DEFAULTS_KEY
from sandbox.rpc.hooks import Resource, Values
from spec import strict_yaml

DIGITS: Final = 7
_LIMIT: Final = 255
_ROWS: Final[Mapping[str, Mapping[str, Any]]] = strict_yaml.beside(__file__)


def property_of(type_token: str) -> str:
    """The input with a type's name."""
    return str(_ROWS.get(type_token, {}).get("input", "name"))


def prefix_of(type_token: str) -> str:
    """The input with the beginning of a type's name."""
    return f"{property_of(type_token)}Prefix"


def with_name(schema: Schema, resource: Resource, news: Values, olds: Values, seed: bytes) -> Values:
    """The inputs with a name. A name generated earlier is kept; otherwise every run would replace the object."""
    name = property_of(schema.type)
    prefix = prefix_of(schema.type)
    if name not in schema.inputs or news.get(name) is not None:
        return news
    if DEFAULTS_KEY in olds and name in olds[DEFAULTS_KEY] and olds.get(prefix) == news.get(prefix) and name in olds:
        generated = olds[name]
    else:
        form = "{}.fifo" if news.get(_ROWS.get(schema.type, {}).get("fifo", "")) is True else "{}"
        generated = _generate(schema.type, resource, news.get(prefix), seed, form)
    return {**news, name: generated, DEFAULTS_KEY: [name]}


def is_generated(inputs: Values, name: str) -> bool:
    """Whether the name was generated here, so that a replacement can exist beside the old object."""
    return name in (inputs.get(DEFAULTS_KEY) or ())


def keeps(type_token: str, old_inputs: Values, news: Values) -> bool:
    """Whether the program names the object: a replacement of the same name requires the old object's deletion first."""
    name = property_of(type_token)
    explicit = news.get(name)
    return explicit is not None and explicit == old_inputs.get(name) and not is_generated(news, name)


def _generate(type_token: str, resource: Resource, prefix: str | None, seed: bytes, form: str) -> str:
    row = _ROWS.get(type_token, {})
    if row.get("plain"):
        return resource.name
    form = row.get("form", form)
    limit = row.get("limit", _LIMIT) - len(form.format(""))
    if resource.proposed_name and prefix is None:
        stem = resource.proposed_name[:limit]
    else:
        digits = hashlib.sha256(seed + resource.urn.encode()).hexdigest()[:DIGITS]
        stem = (prefix if prefix is not None else f"{resource.name}-")[: limit - DIGITS] + digits
    name = str(form.format(stem))
    return name.lower() if type_token.startswith("aws:s3/") else name

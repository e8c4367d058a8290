"""Types that the provider or the account lacks: checked against the schema, they exist in the Pulumi state alone.

No object exists elsewhere, so a record can't drift, and a refresh finds it unchanged. Values that AWS would compute are
made up in AWS's format, equal for equal inputs. Which changes would replace the object is not known: every one is an
update in place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from sandbox.aws.client import Aws
from sandbox.aws.kinds import AnyOf, Kind, ListOf, ObjectOf, Scalar
from sandbox.aws.rules.rule import Inputs
from sandbox.aws.schema import Schema
from sandbox.rpc.wire import UNKNOWN, has_unknown

DIGITS: Final = 17
"""Hex digits of ids such as `a-0123456789abcdef0`."""
RECORDED: Final = "__recorded"
"""The output that says that an object of a type that the provider has is a record."""


def is_one(outputs: Inputs | None) -> bool:
    """Whether an object is a record although the provider has its type."""
    return RECORDED in (outputs or {})


def create(aws: Aws, schema: Schema, name: str, inputs: Inputs) -> tuple[str, dict[str, Any]]:
    """The id and outputs of a new record."""
    id = _digest(schema.type, name, inputs)
    return id, {**_complete(aws, schema, id, inputs), RECORDED: True}


def planned(aws: Aws, schema: Schema, inputs: Inputs) -> dict[str, Any]:
    """The outputs that are known before."""
    return {**inputs, **_common(aws, schema, inputs)}


def update(aws: Aws, schema: Schema, olds: Inputs, inputs: Inputs) -> dict[str, Any]:
    """The outputs after an update; values made up at creation stay."""
    made = {key: value for key, value in olds.items() if key not in schema.inputs}
    return {**made, **inputs, **_common(aws, schema, inputs)}


def found(aws: Aws, schema: Schema, id: str) -> dict[str, Any]:
    """The outputs of one that the program says to exist, by its id: also what it would set itself is made up."""
    return _complete(aws, schema, id, {}, exists=True)


def name_of(schema: Schema, args: Inputs) -> str:
    """The id of one that arguments of a data source name: an ID or ARN among them, else made up from all of them."""
    named = [value for key, value in args.items() if key.lower().endswith(("id", "arn")) and isinstance(value, str)]
    return named[0] if named and named[0] else _digest(schema.type, "", args)


def _complete(aws: Aws, schema: Schema, id: str, inputs: Inputs, *, exists: bool = False) -> dict[str, Any]:
    """The outputs: the values that AWS would compute, overlaid with the inputs."""
    service, kind = schema.type.split(":")[1].split("/")[0], schema.type.split(":")[2].lower()
    made = f"arn:{aws.partition}:{service}:{aws.region}:{aws.account}:{kind}/{id}"
    arn = id if id.startswith("arn:") else made
    names = {**aws.names(), "digest": id if id.isalnum() else _digest(schema.type, id, {}), "arn": arn}
    computed: dict[str, Any] = {"arn": arn} if "arn" in schema.outputs else {}
    for key, field in schema.outputs.items():
        if (exists or key not in schema.inputs) and key not in computed:
            computed |= {key: value} if (value := _made_up(key, field.kind, names)) is not None else {}
    return {**computed, **inputs, **_common(aws, schema, inputs)}


def _common(aws: Aws, schema: Schema, inputs: Inputs) -> dict[str, Any]:
    """The outputs that nearly every type has: tags merged with the default tags, region, owner."""
    own = inputs.get("tags") or {}
    tags = UNKNOWN if has_unknown(own) else {key: str(value) for key, value in {**aws.default_tags, **own}.items()}
    known = {"tagsAll": tags, "region": aws.region, "ownerId": aws.account}
    return {key: value for key, value in known.items() if key in schema.outputs}


def _made_up(name: str, kind: Kind, names: Mapping[str, str]) -> Any:
    """A value that only AWS has, by its name: programs join texts with others, and take the first of a list. None of
    numbers, objects and maps: what they mean doesn't follow from a name."""
    kind = _simplest(kind)
    if isinstance(kind, ListOf):
        inner = _simplest(kind.item)
        if not isinstance(inner, ObjectOf):
            one = _made_up(name.removesuffix("s"), inner, names)
            return None if one is None else [one]
        parts = {key: _made_up(key, field.kind, names) for key, field in inner.fields.items()}
        return [{key: value for key, value in parts.items() if value is not None}]
    if kind != Scalar("str"):
        return None
    host = f"{names['digest']}.{names['region']}.amazonaws.com"
    by_end = {
        "url": f"https://{host}", "uri": f"https://{host}", "endpoint": f"https://{host}", "name": host, "server": host,
        "host": host, "arn": names["arn"], "id": names["digest"],
    }  # fmt: skip
    return next((value for end, value in by_end.items() if name.lower().endswith(end)), "")


def _simplest(kind: Kind) -> Kind:
    return kind.options[0] if isinstance(kind, AnyOf) else kind


def _digest(type_token: str, name: str, inputs: Inputs) -> str:
    text = json.dumps([type_token, name, dict(inputs)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]

"""Types that moto does not have: they are checked against the schema and then exist only in the Pulumi state.

No object exists elsewhere, so a record can't drift, and a refresh finds it unchanged. Values that AWS would compute are
made up in AWS's format, equal for equal inputs. For types whose row says so (`types`), the same changes force a
replacement as on AWS; for all others that is not known (the Python SDK does not say), and every change is an update in
place.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sandbox.aws import outputs, rules
from sandbox.aws.client import Aws
from sandbox.aws.kinds import Kind, ListOf, ObjectOf, Scalar
from sandbox.aws.mapping import Inputs, Record
from sandbox.aws.outputs import simplest
from sandbox.aws.rules.rule import Case, Moment
from sandbox.aws.schema import Schema
from sandbox.aws.shapes import fill
from sandbox.aws.types import RECORDS

DIGITS = 17
"""Hex digits of ids such as `a-0123456789abcdef0`."""


_ANY_OTHER = Record()


def record(type_token: str) -> Record:
    """What is known about a type."""
    return RECORDS.get(type_token, _ANY_OTHER)


def create(aws: Aws, schema: Schema, name: str, inputs: Inputs) -> tuple[str, dict[str, Any]]:
    """The id and outputs of a new record."""
    known = record(schema.type)
    digest = _digest(schema.type, name, inputs)
    names = {**inputs, **aws.names(), "digest": digest}
    rules.refuse(Moment.CREATE, Case(schema.type, aws, inputs))
    id = str(fill(known.id, names))
    if known.changed:
        known.changed(aws, None, inputs)
    return id, complete(aws, schema, id, digest, inputs)


def complete(aws: Aws, schema: Schema, id: str, digest: str, inputs: Inputs, *, exists: bool = False) -> dict[str, Any]:
    """The outputs: the values that AWS would compute, overlaid with the inputs."""
    names = {**inputs, **aws.names(), "digest": digest, "id": id}
    # The templates use inputs, of which nothing is known.
    computed = {} if exists else fill(record(schema.type).computed, names)
    if "arn" in schema.outputs and "arn" not in computed:
        service, kind = schema.type.split(":")[1].split("/")[0], schema.type.split(":")[2].lower()
        made = f"arn:{aws.partition}:{service}:{aws.region}:{aws.account}:{kind}/{id}"
        computed["arn"] = id if id.startswith("arn:") else made
    for key, field in schema.outputs.items():
        if (exists or key not in schema.inputs) and key not in computed:
            computed |= {key: value} if (value := _made_up(key, field.kind, names, computed)) is not None else {}
    return {**outputs.overlay(schema, computed, inputs), **outputs.common(aws, schema, inputs)}


def found(aws: Aws, schema: Schema, id: str) -> dict[str, Any]:
    """The outputs of one that the program says to exist, by its id: also what it would set itself is made up."""
    digest = id if id.isalnum() else _digest(schema.type, id, {})
    return complete(aws, schema, id, digest, {}, exists=True)


def name_of(schema: Schema, args: Inputs) -> str:
    """The id of one that arguments of a data source name: an ID or ARN among them, else made up from all of them."""
    named = [value for key, value in args.items() if key.lower().endswith(("id", "arn")) and isinstance(value, str)]
    return named[0] if named and named[0] else _digest(schema.type, "", args)


def _made_up(name: str, kind: Kind, names: Inputs, computed: Inputs) -> Any:
    """A value that only AWS has, by its name: programs join texts with others, and take the first of a list. None of
    numbers, objects and maps: what they mean doesn't follow from a name."""
    kind = simplest(kind)
    if isinstance(kind, ListOf):
        inner = simplest(kind.item)
        if not isinstance(inner, ObjectOf):
            one = _made_up(name.removesuffix("s"), inner, names, computed)
            return None if one is None else [one]
        parts = {key: _made_up(key, field.kind, names, computed) for key, field in inner.fields.items()}
        return [{key: value for key, value in parts.items() if value is not None}]
    if kind != Scalar("str"):
        return None
    host, arn, digest = f"{names['digest']}.{names['region']}.amazonaws.com", computed.get("arn", ""), names["digest"]
    by_end = {
        "url": f"https://{host}", "uri": f"https://{host}", "endpoint": f"https://{host}", "name": host, "server": host,
        "host": host, "arn": arn, "id": digest,
    }  # fmt: skip
    return next((str(value) for end, value in by_end.items() if name.lower().endswith(end)), "")


def update(aws: Aws, schema: Schema, olds: Inputs, inputs: Inputs, old_inputs: Inputs) -> dict[str, Any]:
    """The outputs after an update; values made up at creation stay."""
    known = record(schema.type)
    if known.changed:
        known.changed(aws, old_inputs, inputs)
    computed = {key: value for key, value in olds.items() if key not in schema.inputs or key in known.computed}
    return {**outputs.overlay(schema, computed, inputs), **outputs.common(aws, schema, inputs)}


def delete(aws: Aws, schema: Schema, outs: Inputs) -> None:
    """Delete the record."""
    known = record(schema.type)
    if known.changed:
        known.changed(aws, outs, None)


def _digest(type_token: str, name: str, inputs: Inputs) -> str:
    text = json.dumps([type_token, name, dict(inputs)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]

"""Types that moto does not have: they are checked against the schema and then exist only in the Pulumi state.

No object exists elsewhere, so a record can't drift, and a refresh finds it unchanged. Values that AWS would compute are
made up in AWS's format, equal for equal inputs. For the types listed here, the same changes force a replacement as on
AWS; for all others that is not known (the Python SDK does not say), and every change is an update in place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from slipway.sandbox.aws import outputs, rules
from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Inputs, fill
from slipway.sandbox.aws.rules.rule import Case, Moment
from slipway.sandbox.aws.schema import Schema

DIGITS = 17
"""Hex digits of ids such as `a-0123456789abcdef0`."""


@dataclass(frozen=True)
class Record:
    """What is known about a type: its id and computed outputs as templates (`{digest}`, inputs, region, account).

    `changed` is called with the inputs before and after each change, None if there are none.
    """

    id: str = "{digest}"
    computed: Mapping[str, Any] = field(default_factory=dict)
    force_new: frozenset[str] = frozenset()
    changed: Callable[[Aws, Inputs | None, Inputs | None], None] | None = None


def _report_tag(aws: Aws, old: Inputs | None, new: Inputs | None) -> None:
    """The tags of a node group's Auto Scaling group describe its nodes to the Cluster Autoscaler."""
    if aws.nodes is None:
        return
    if old is not None:
        aws.nodes.asg_tag_changed(old["autoscalingGroupName"], old["tag"]["key"], None)
    if new is not None:
        aws.nodes.asg_tag_changed(new["autoscalingGroupName"], new["tag"]["key"], str(new["tag"]["value"]))


RECORDS: Mapping[str, Record] = MappingProxyType(
    {
        "aws:autoscaling/tag:Tag": Record(
            "{autoscalingGroupName},{tag[key]}",
            force_new=frozenset({"autoscalingGroupName", "tag.key"}),
            changed=_report_tag,
        ),
        "aws:ec2/placementGroup:PlacementGroup": Record(
            "{name}",
            {
                "placementGroupId": "pg-{digest}",
                "arn": "arn:{partition}:ec2:{region}:{account}:placement-group/{name}",
            },
            frozenset({"name", "partitionCount", "spreadLevel", "strategy"}),
        ),
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": Record(
            "dra-{digest}",
            {
                "associationId": "dra-{digest}",
                "arn": "arn:{partition}:fsx:{region}:{account}:association/{fileSystemId}/dra-{digest}",
            },
            frozenset({"batchImportMetaDataOnCreate", "dataRepositoryPath", "fileSystemId", "fileSystemPath"}),
        ),
    }
)  # fmt: skip

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


def complete(aws: Aws, schema: Schema, id: str, digest: str, inputs: Inputs) -> dict[str, Any]:
    """The outputs: the values that AWS would compute, overlaid with the inputs."""
    names = {**inputs, **aws.names(), "digest": digest, "id": id}
    computed = fill(record(schema.type).computed, names)
    if "arn" in schema.outputs and "arn" not in computed:
        service, kind = schema.type.split(":")[1].split("/")[0], schema.type.split(":")[2].lower()
        computed["arn"] = f"arn:{aws.partition}:{service}:{aws.region}:{aws.account}:{kind}/{id}"
    return {**outputs.overlay(schema, computed, inputs), **outputs.common(aws, schema, inputs)}


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

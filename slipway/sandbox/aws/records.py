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

from slipway.sandbox.aws import outputs
from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Call, Inputs, fill
from slipway.sandbox.aws.schema import Schema

DIGITS = 17
"""Hex digits of ids such as `a-0123456789abcdef0`."""

EPOCH = "2026-01-01T00:00:00Z"
"""Creation time of every record: the real time would differ between runs."""


@dataclass(frozen=True)
class Record:
    """What is known about a type: its id and computed outputs as templates (`{digest}`, inputs, region, account).

    `refers` has calls that must succeed at creation: an access entry of a cluster that does not exist is refused.
    `changed` is called with the inputs before and after each change, None if there are none.
    """

    id: str = "{digest}"
    computed: Mapping[str, Any] = field(default_factory=dict)
    force_new: frozenset[str] = frozenset()
    refers: tuple[tuple[str, Call], ...] = ()
    changed: Callable[[Aws, Inputs | None, Inputs | None], None] | None = None


_CLUSTER = (("eks", Call("describe_cluster", target={"name": "{clusterName}"})),)
_EKS = "arn:{partition}:eks:{region}:{account}:"


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
        # Force-new of EKS: hashicorp/terraform-provider-aws internal/service/eks/{addon,access_policy_association,
        # pod_identity_association}.go, read 2026-11.
        "aws:eks/addon:Addon": Record(
            "{clusterName}:{addonName}",
            {
                "arn": _EKS + "addon/{clusterName}/{addonName}/{digest}", "createdAt": EPOCH, "modifiedAt": EPOCH,
            },
            frozenset({"addonName", "clusterName", "namespaceConfig"}),
            _CLUSTER,
        ),
        "aws:eks/accessEntry:AccessEntry": Record(
            "{clusterName}:{principalArn}",
            {
                "accessEntryArn": _EKS + "access-entry/{clusterName}/{digest}", "type": "STANDARD",
                "userName": "{principalArn}", "createdAt": EPOCH, "modifiedAt": EPOCH,
            },
            frozenset({"clusterName", "principalArn", "type"}),
            _CLUSTER,
        ),
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Record(
            "{clusterName}#{principalArn}#{policyArn}",
            {"associatedAt": EPOCH, "modifiedAt": EPOCH},
            frozenset({"accessScope", "clusterName", "policyArn", "principalArn"}),
            _CLUSTER,
        ),
        "aws:eks/podIdentityAssociation:PodIdentityAssociation": Record(
            "a-{digest}",
            {
                "associationId": "a-{digest}",
                "associationArn": _EKS + "podidentityassociation/{clusterName}/a-{digest}",
            },
            frozenset({"clusterName", "namespace", "serviceAccount"}),
            _CLUSTER,
        ),
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
            (("fsx", Call("describe_file_systems", target={"FileSystemIds": ["{fileSystemId}"]})),),
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
    for service, call in known.refers:
        call(aws, service, {}, names)
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

"""SQS queues and their policies."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Call, Inputs, Item, ResourceMapping, Setting, Tags, find

SERVICE = "sqs"
# Input -> attribute. AWS keeps all of them as strings.
_ATTRIBUTES = {
    "contentBasedDeduplication": "ContentBasedDeduplication",
    "deduplicationScope": "DeduplicationScope",
    "delaySeconds": "DelaySeconds",
    "fifoQueue": "FifoQueue",
    "fifoThroughputLimit": "FifoThroughputLimit",
    "kmsDataKeyReusePeriodSeconds": "KmsDataKeyReusePeriodSeconds",
    "kmsMasterKeyId": "KmsMasterKeyId",
    "maxMessageSize": "MaximumMessageSize",
    "messageRetentionSeconds": "MessageRetentionPeriod",
    "policy": "Policy",
    "receiveWaitTimeSeconds": "ReceiveMessageWaitTimeSeconds",
    "redriveAllowPolicy": "RedriveAllowPolicy",
    "redrivePolicy": "RedrivePolicy",
    "sqsManagedSseEnabled": "SqsManagedSseEnabled",
    "visibilityTimeoutSeconds": "VisibilityTimeout",
}
_READ = Call("get_queue_attributes", target={"QueueUrl": "{id}", "AttributeNames": ["All"]}, item="Attributes")


def attributes(inputs: Inputs) -> dict[str, str]:
    """The attributes of a queue in AWS's form."""
    return {_ATTRIBUTES[name]: _text(value) for name, value in inputs.items() if name in _ATTRIBUTES}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, Mapping) else str(value)


def _read(aws: Aws, id: str, names: Inputs) -> Item | None:
    item = find(aws, SERVICE, _READ, {"id": id})
    if item is None:
        return None
    named = {name: item[attribute] for name, attribute in _ATTRIBUTES.items() if attribute in item}
    return {"QueueArn": item["QueueArn"], "name": id.rsplit("/", 1)[-1], **named}


def _set(aws: Aws, id: str, inputs: Inputs) -> None:
    # A queue can't change between FIFO and standard.
    changed = {name: value for name, value in inputs.items() if name != "fifoQueue"}
    aws.call(SERVICE, "set_queue_attributes", QueueUrl=id, Attributes=attributes(changed))


QUEUE = ResourceMapping(
    "aws:sqs/queue:Queue",
    SERVICE,
    create=Call(
        "create_queue",
        rename={"name": "QueueName"},
        adapt=lambda inputs: {
            "name": inputs["name"], "tags": inputs.get("tags") or {}, "attributes": attributes(inputs)
        },
    ),
    id="QueueUrl",
    read=_read,
    delete=Call("delete_queue", target={"QueueUrl": "{id}"}),
    force_new=frozenset({"name", "namePrefix", "fifoQueue"}),
    settings=(Setting(tuple(name for name in _ATTRIBUTES if name != "fifoQueue"), _set, at_create=False),),
    tags=Tags(
        "tag_queue",
        "untag_queue",
        {"QueueUrl": "{id}"},
        read=Call("list_queue_tags", target={"QueueUrl": "{id}"}, item="Tags"),
    ),
    name_limit=80,
    from_item={"arn": "QueueArn"},
    computed={"url": "{id}"},
    # AWS's defaults (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html,
    # read 2026-11), which replace removed inputs.
    defaults={
        "delaySeconds": 0, "messageRetentionSeconds": 345600, "receiveWaitTimeSeconds": 0,
        "visibilityTimeoutSeconds": 30,
    },
    drift=tuple(name for name in _ATTRIBUTES if name not in ("policy", "kmsDataKeyReusePeriodSeconds")),
)  # fmt: skip


def _put_policy(aws: Aws, id: str, inputs: Inputs) -> None:
    aws.call(SERVICE, "set_queue_attributes", QueueUrl=id, Attributes=attributes({"policy": inputs["policy"]}))


def _create_policy(aws: Aws, inputs: Inputs) -> str:
    _put_policy(aws, inputs["queueUrl"], inputs)
    return str(inputs["queueUrl"])


def _read_policy(aws: Aws, id: str, names: Inputs) -> Item | None:
    item = find(aws, SERVICE, _READ, {"id": id})
    return {"QueueUrl": id, "Policy": item["Policy"]} if item and item.get("Policy") else None


def _delete_policy(aws: Aws, id: str, inputs: Inputs) -> None:
    aws.call(SERVICE, "set_queue_attributes", QueueUrl=id, Attributes={"Policy": ""})


QUEUE_POLICY = ResourceMapping(
    "aws:sqs/queuePolicy:QueuePolicy",
    SERVICE,
    create=_create_policy,
    id="",
    read=_read_policy,
    delete=_delete_policy,
    force_new=frozenset({"queueUrl"}),
    settings=(Setting(("policy",), _put_policy, at_create=False),),
    drift=("policy",),
)

MAPPINGS = (QUEUE, QUEUE_POLICY)

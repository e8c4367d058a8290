"""Functions of the types in messages.yaml: SQS, SNS, EventBridge and CloudWatch."""

from __future__ import annotations

from sandbox.aws.client import Aws
from sandbox.aws.mapping import Call, Inputs, Item, find
from sandbox.aws.shapes import capital, to_text

# SQS queues and their policies.

SQS = "sqs"
# Input -> attribute. AWS keeps all of them as strings.
_QUEUE_ATTRIBUTES = {
    name: capital(name)
    for name in (
        "contentBasedDeduplication", "deduplicationScope", "delaySeconds", "fifoQueue", "fifoThroughputLimit",
        "kmsDataKeyReusePeriodSeconds", "kmsMasterKeyId", "policy", "redriveAllowPolicy", "redrivePolicy",
        "sqsManagedSseEnabled",
    )
} | {
    "maxMessageSize": "MaximumMessageSize", "messageRetentionSeconds": "MessageRetentionPeriod",
    "receiveWaitTimeSeconds": "ReceiveMessageWaitTimeSeconds", "visibilityTimeoutSeconds": "VisibilityTimeout",
}  # fmt: skip
_QUEUE = Call("get_queue_attributes", target={"QueueUrl": "{id}", "AttributeNames": ["All"]}, item="Attributes")


def attributes(inputs: Inputs) -> dict[str, str]:
    """The attributes of a queue in AWS's form."""
    return {_QUEUE_ATTRIBUTES[name]: to_text(value) for name, value in inputs.items() if name in _QUEUE_ATTRIBUTES}


def queue_request(inputs: Inputs) -> Inputs:
    return {"name": inputs["name"], "tags": inputs.get("tags") or {}, "attributes": attributes(inputs)}


def read_queue(aws: Aws, id: str, names: Inputs) -> Item | None:
    item = find(aws, SQS, _QUEUE, {"id": id})
    if item is None:
        return None
    named = {name: item[attribute] for name, attribute in _QUEUE_ATTRIBUTES.items() if attribute in item}
    return {"QueueArn": item["QueueArn"], "name": id.rsplit("/", 1)[-1], **named}


def set_queue(aws: Aws, id: str, inputs: Inputs) -> None:
    # A queue can't change between FIFO and standard.
    changed = {name: value for name, value in inputs.items() if name != "fifoQueue"}
    aws.call(SQS, "set_queue_attributes", QueueUrl=id, Attributes=attributes(changed))


def put_queue_policy(aws: Aws, id: str, inputs: Inputs) -> None:
    aws.call(SQS, "set_queue_attributes", QueueUrl=id, Attributes=attributes({"policy": inputs["policy"]}))


def create_queue_policy(aws: Aws, inputs: Inputs) -> str:
    put_queue_policy(aws, inputs["queueUrl"], inputs)
    return str(inputs["queueUrl"])


def read_queue_policy(aws: Aws, id: str, names: Inputs) -> Item | None:
    item = find(aws, SQS, _QUEUE, {"id": id})
    return {"QueueUrl": id, "Policy": item["Policy"]} if item and item.get("Policy") else None


def delete_queue_policy(aws: Aws, id: str, inputs: Inputs) -> None:
    aws.call(SQS, "set_queue_attributes", QueueUrl=id, Attributes={"Policy": ""})


# SNS topics, their policies and subscriptions.

SNS = "sns"
_TOPIC_ATTRIBUTES = {
    name: capital(name)
    for name in (
        "contentBasedDeduplication", "deliveryPolicy", "displayName", "fifoTopic", "kmsMasterKeyId", "policy",
        "signatureVersion", "tracingConfig",
    )
}  # fmt: skip
_TOPIC = Call("get_topic_attributes", target={"TopicArn": "{id}"}, item="Attributes")


def topic_request(inputs: Inputs) -> Inputs:
    attributes = {
        _TOPIC_ATTRIBUTES[name]: to_text(value) for name, value in inputs.items() if name in _TOPIC_ATTRIBUTES
    }
    return {"name": inputs["name"], "tags": inputs.get("tags") or {}, "attributes": attributes}


def set_topic(aws: Aws, id: str, inputs: Inputs) -> None:
    for name, attribute in _TOPIC_ATTRIBUTES.items():
        if name in inputs and name != "fifoTopic":
            value = to_text(inputs[name])
            aws.call(SNS, "set_topic_attributes", TopicArn=id, AttributeName=attribute, AttributeValue=value)


def read_topic(aws: Aws, id: str, names: Inputs) -> Item | None:
    item = find(aws, SNS, _TOPIC, {"id": id})
    if item is None:
        return None
    named = {name: item[attribute] for name, attribute in _TOPIC_ATTRIBUTES.items() if attribute in item}
    return {"arn": id, "name": id.rsplit(":", 1)[-1], "owner": item.get("Owner"), **named}


def put_topic_policy(aws: Aws, id: str, inputs: Inputs) -> None:
    policy = to_text(inputs["policy"])
    aws.call(SNS, "set_topic_attributes", TopicArn=inputs["arn"], AttributeName="Policy", AttributeValue=policy)


def create_topic_policy(aws: Aws, inputs: Inputs) -> str:
    put_topic_policy(aws, "", inputs)
    return str(inputs["arn"])


# EventBridge rules and targets.

EVENTS = "events"


def event_rule(inputs: Inputs) -> Inputs:
    """`isEnabled` is the deprecated form of `state`."""
    if "isEnabled" in inputs and "state" not in inputs:
        return {**inputs, "state": "ENABLED" if inputs["isEnabled"] in (True, "true") else "DISABLED"}
    return inputs


def put_target(aws: Aws, id: str, inputs: Inputs) -> None:
    target = {**inputs, "id": inputs["targetId"]}
    bus = {"eventBusName": inputs["eventBusName"]} if "eventBusName" in inputs else {}
    put = Call("put_targets")
    put(aws, EVENTS, {"rule": inputs["rule"], "targets": [target], **bus}, {})


def create_target(aws: Aws, inputs: Inputs) -> str:
    put_target(aws, "", inputs)
    return f"{inputs['rule']}-{inputs['targetId']}"


def read_target(aws: Aws, id: str, names: Inputs) -> Item | None:
    if "rule" not in names:
        return None
    listed = find(aws, EVENTS, Call("list_targets_by_rule", target={"Rule": "{rule}"}), names) or {}
    for target in listed.get("Targets", []):
        if target["Id"] == names["targetId"]:
            return {**target, "Rule": names["rule"], "TargetId": target["Id"]}
    return None


# CloudWatch log groups and metric alarms.

LOGS = "logs"


def read_log_group(aws: Aws, id: str, names: Inputs) -> Item | None:
    """AWS finds log groups by prefix only."""
    for group in aws.call(LOGS, "describe_log_groups", logGroupNamePrefix=id)["logGroups"]:
        if group["logGroupName"] == id:
            return {**group, "name": id, "retentionInDays": group.get("retentionInDays", 0)}
    return None

"""SNS topics, their policies and subscriptions."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Call, Inputs, Item, ResourceMapping, Setting, Tags, find

SERVICE = "sns"
_ATTRIBUTES = {
    "contentBasedDeduplication": "ContentBasedDeduplication",
    "deliveryPolicy": "DeliveryPolicy",
    "displayName": "DisplayName",
    "fifoTopic": "FifoTopic",
    "kmsMasterKeyId": "KmsMasterKeyId",
    "policy": "Policy",
    "signatureVersion": "SignatureVersion",
    "tracingConfig": "TracingConfig",
}
_READ = Call("get_topic_attributes", target={"TopicArn": "{id}"}, item="Attributes")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, Mapping) else str(value)


def _request(inputs: Inputs) -> Inputs:
    attributes = {_ATTRIBUTES[name]: _text(value) for name, value in inputs.items() if name in _ATTRIBUTES}
    return {"name": inputs["name"], "tags": inputs.get("tags") or {}, "attributes": attributes}


def _set(aws: Aws, id: str, inputs: Inputs) -> None:
    for name, attribute in _ATTRIBUTES.items():
        if name in inputs and name != "fifoTopic":
            value = _text(inputs[name])
            aws.call(SERVICE, "set_topic_attributes", TopicArn=id, AttributeName=attribute, AttributeValue=value)


def _read(aws: Aws, id: str, names: Inputs) -> Item | None:
    item = find(aws, SERVICE, _READ, {"id": id})
    if item is None:
        return None
    named = {name: item[attribute] for name, attribute in _ATTRIBUTES.items() if attribute in item}
    return {"arn": id, "name": id.rsplit(":", 1)[-1], "owner": item.get("Owner"), **named}


TOPIC = ResourceMapping(
    "aws:sns/topic:Topic",
    SERVICE,
    create=Call("create_topic", adapt=_request),
    id="TopicArn",
    read=_read,
    delete=Call("delete_topic", target={"TopicArn": "{id}"}),
    force_new=frozenset({"name", "namePrefix", "fifoTopic"}),
    settings=(Setting(tuple(name for name in _ATTRIBUTES if name != "fifoTopic"), _set, at_create=False),),
    tags=Tags(
        "tag_resource",
        "untag_resource",
        {"ResourceArn": "{id}"},
        read=Call("list_tags_for_resource", target={"ResourceArn": "{id}"}, item="Tags"),
    ),
    name_limit=256,
    defaults={"displayName": ""},
    drift=("displayName", "kmsMasterKeyId"),
)


def _put_policy(aws: Aws, id: str, inputs: Inputs) -> None:
    policy = _text(inputs["policy"])
    aws.call(SERVICE, "set_topic_attributes", TopicArn=inputs["arn"], AttributeName="Policy", AttributeValue=policy)


def _create_policy(aws: Aws, inputs: Inputs) -> str:
    _put_policy(aws, "", inputs)
    return str(inputs["arn"])


TOPIC_POLICY = ResourceMapping(
    "aws:sns/topicPolicy:TopicPolicy",
    SERVICE,
    create=_create_policy,
    id="",
    read=Call("get_topic_attributes", target={"TopicArn": "{id}"}, item="Attributes.{arn: TopicArn, policy: Policy}"),
    # AWS restores its default policy; a topic always has one.
    delete=None,
    force_new=frozenset({"arn"}),
    settings=(Setting(("policy",), _put_policy, at_create=False),),
    drift=("policy",),
)

SUBSCRIPTION = ResourceMapping(
    "aws:sns/topicSubscription:TopicSubscription",
    SERVICE,
    create=Call("subscribe", rename={"topic": "TopicArn"}, fixed={"ReturnSubscriptionArn": True}),
    id="SubscriptionArn",
    read=Call("get_subscription_attributes", target={"SubscriptionArn": "{id}"}, item="Attributes"),
    delete=Call("unsubscribe", target={"SubscriptionArn": "{id}"}),
    force_new=frozenset({"endpoint", "protocol", "topic"}),
    from_item={"arn": "SubscriptionArn", "topic": "TopicArn"},
    computed={"arn": "{id}"},
    drift=("endpoint", "protocol"),
)

MAPPINGS = (TOPIC, TOPIC_POLICY, SUBSCRIPTION)

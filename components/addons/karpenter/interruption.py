"""Karpenter's interruption queue: EventBridge rules send interruption events of EC2 and AWS Health to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.iam import Statement, document
from components.base.outputs import ClusterOutputs

RETENTION_SECONDS: Final = 300
"""Older events are useless: a Spot interruption notice gives two minutes (Karpenter v1.14.1, CloudFormation
template)."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One kind of event.

    Attributes:
        source: `source` in EventBridge.
        detail_type: `detail-type` in EventBridge.
        why: What Karpenter does about it.
    """

    source: str
    detail_type: str
    why: str


EVENTS: Final[Mapping[str, Event]] = {
    "health": Event(source="aws.health", detail_type="AWS Health Event", why="Replace machines that AWS will retire"),
    "rebalance": Event(
        source="aws.ec2",
        detail_type="EC2 Instance Rebalance Recommendation",
        why="Report Spot machines that are likely to be reclaimed",
    ),
    "reservation": Event(
        source="aws.ec2",
        detail_type="EC2 Capacity Reservation Instance Interruption Warning",
        why="Drain machines whose capacity reservation ends",
    ),
    "spot": Event(
        source="aws.ec2",
        detail_type="EC2 Spot Instance Interruption Warning",
        why="Drain Spot machines that are reclaimed in two minutes",
    ),
    "state-change": Event(
        source="aws.ec2",
        detail_type="EC2 Instance State-change Notification",
        why="Forget machines that were stopped or terminated",
    ),
}
"""Events by a short name, which is part of the rule names: those have at most 64 characters. Detail types: Karpenter
v1.14.1, CloudFormation template of 2026-08-20."""


def interruption_queue(name: str, cluster: ClusterOutputs, parent: pulumi.Resource) -> aws.sqs.Queue:
    """Declare the queue `<name>-queue`, its policy, and a rule for each event."""
    child = pulumi.ResourceOptions(parent=parent)
    queue = aws.sqs.Queue(
        f"{name}-queue", message_retention_seconds=RETENTION_SECONDS, sqs_managed_sse_enabled=True, opts=child
    )
    rules_arn = f"arn:{cluster.partition}:events:{cluster.region}:{cluster.account_id}:rule/*"
    aws.sqs.QueuePolicy(
        f"{name}-queue-policy",
        queue_url=queue.url,
        policy=queue.arn.apply(lambda arn: queue_policy(arn, rules_arn)),
        opts=child,
    )
    for key, event in EVENTS.items():
        rule = aws.cloudwatch.EventRule(
            f"{name}-{key}", description=event.why, event_pattern=event_pattern(event), opts=child
        )
        aws.cloudwatch.EventTarget(f"{name}-{key}-target", rule=rule.name, arn=queue.arn, opts=child)
    return queue


def event_pattern(event: Event) -> str:
    """EventBridge pattern of an event."""
    return json.dumps({"detail-type": [event.detail_type], "source": [event.source]}, sort_keys=True)


def queue_policy(queue_arn: str, rules_arn: str) -> str:
    """Only rules of this account and Region may send messages, and every request must use TLS."""
    return document(
        Statement(
            sid="EventsWrite",
            actions=["sqs:SendMessage"],
            resources=[queue_arn],
            principals={"Service": ["events.amazonaws.com"]},
            conditions={"ArnLike": {"aws:SourceArn": [rules_arn]}},
        ),
        Statement(
            sid="TlsOnly",
            effect="Deny",
            actions=["sqs:*"],
            resources=[queue_arn],
            principals={"AWS": ["*"]},
            conditions={"Bool": {"aws:SecureTransport": ["false"]}},
        ),
    )

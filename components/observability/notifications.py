"""The SNS topic of the environment for alerts, budgets and cost anomalies, and its subscriptions.

Its name is fixed: Alertmanager's configuration and permissions contain the ARN, and must be known at preview.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.iam import Statement, account_administration, document, rotated_key
from spec.settings.notifications import Notifications as Settings

SERVICES: Final = ("budgets.amazonaws.com", "costalerts.amazonaws.com")
"""AWS Budgets and Cost Anomaly Detection (Cost Management User Guide, "Creating an Amazon SNS topic for budget
notifications" and "... for anomaly notifications"; read 2026-11)."""


@dataclass(frozen=True, kw_only=True)
class NotificationsArgs:
    """Inputs of `Notifications`.

    Attributes:
        settings: Who gets messages.
        topic: ARN of the topic; the alias of its key has its name.
        cluster: Name of the cluster, for the key's description.
        key_deletion_days: Deletion window of the key, in days.
    """

    settings: Settings
    topic: str
    cluster: str
    key_deletion_days: int = 30


class Notifications(pulumi.ComponentResource):
    """The SNS topic with its KMS key, its policy and its subscriptions."""

    PULUMI_TYPE: Final = "slipway:cost:Notices"

    topic: aws.sns.Topic
    ready: tuple[pulumi.Resource, ...]
    """Dependencies of services that publish: they test the topic immediately, and refuse one that they can't publish
    to."""

    def __init__(self, name: str, args: NotificationsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        topic = args.topic.rpartition(":")[2]
        child = pulumi.ResourceOptions(parent=self)
        days, about = args.key_deletion_days, f"Notices of {args.cluster}"
        policy_of_key, alias = key_policy(args.topic), (f"{name}-alias", f"alias/{topic}")
        key = rotated_key(f"{name}-key", alias, about, policy_of_key, days, kept=child, child=child)
        self.topic = aws.sns.Topic(f"{name}-topic", name=topic, kms_master_key_id=key.arn, opts=child)
        policy = aws.sns.TopicPolicy(
            f"{name}-topic-policy", arn=self.topic.arn, policy=topic_policy(args.topic), opts=child
        )
        for logical, (protocol, endpoint) in subscribers(args.settings).items():
            aws.sns.TopicSubscription(
                f"{name}-{logical}", topic=self.topic.arn, protocol=protocol, endpoint=endpoint, opts=child
            )
        self.ready = (self.topic, policy)
        self.register_outputs({"topicArn": self.topic.arn})


def subscribers(settings: Settings) -> dict[str, tuple[str, str]]:
    """Protocol and endpoint of each subscriber, by the suffix of its logical name."""
    endpoints = [("email", address) for address in settings.emails] + [("https", url) for url in settings.https]
    return {f"{protocol}-{_slug(endpoint)}": (protocol, endpoint) for protocol, endpoint in endpoints}


def _slug(endpoint: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", endpoint.removeprefix("https://").lower()).strip("-")


def key_policy(topic: str) -> str:
    """Key policy: the account of the topic manages the key, and the services use it to encrypt messages."""
    _, partition, _, _, account, _ = topic.split(":")
    return document(
        account_administration(partition, account),
        Statement(
            "Services",
            ["kms:Decrypt", "kms:GenerateDataKey*"],
            ["*"],
            principals={"Service": SERVICES},
            conditions={"StringEquals": {"aws:SourceAccount": [account]}},
        ),
    )


def topic_policy(arn: str) -> str:
    """Topic policy: the services publish only for its account, and every request must use TLS."""
    return document(
        Statement(
            "Services",
            ["sns:Publish"],
            [arn],
            principals={"Service": SERVICES},
            conditions={"StringEquals": {"aws:SourceAccount": [arn.split(":")[4]]}},
        ),
        Statement(
            "TlsOnly",
            ["sns:Publish", "sns:Subscribe"],
            [arn],
            effect="Deny",
            principals={"AWS": ["*"]},
            conditions={"Bool": {"aws:SecureTransport": ["false"]}},
        ),
    )

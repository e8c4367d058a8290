"""The SNS topic of the environment for alerts, budgets and cost anomalies, and its subscriptions.

Its name is fixed: Alertmanager's configuration and permissions contain the ARN, and must be known at preview.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.iam import Statement, account_administration, document
from spec.catalog import regions
from spec.settings.notifications import Notifications as Settings
from spec.settings.platform import Platform

SERVICES: Final = ("budgets.amazonaws.com", "costalerts.amazonaws.com")
"""AWS Budgets and Cost Anomaly Detection (Cost Management User Guide, "Creating an Amazon SNS topic for budget
notifications" and "... for anomaly notifications"; read 2026-11)."""


def topic_name(platform: Platform) -> str:
    """Name of the topic, and of the alias of its key."""
    return f"slipway-{platform.environment.name}-notices"


def topic_arn(platform: Platform) -> str | None:
    """ARN of the topic; None if the stack has no notifications."""
    if not platform.notifications.wanted:
        return None
    account = platform.account
    partition = regions.REGIONS[account.region].partition
    return f"arn:{partition}:sns:{account.region}:{account.id}:{topic_name(platform)}"


@dataclass(frozen=True, kw_only=True)
class NotificationsArgs:
    """Inputs of `Notifications`.

    Attributes:
        platform: All settings; `notifications.wanted` must be true.
    """

    platform: Platform


class Notifications(pulumi.ComponentResource):
    """The SNS topic with its KMS key, its policy and its subscriptions."""

    PULUMI_TYPE: Final = "slipway:cost:Notices"

    topic: aws.sns.Topic
    ready: tuple[pulumi.Resource, ...]
    """Dependencies of services that publish: they test the topic immediately, and refuse one that they can't publish
    to."""

    def __init__(self, name: str, args: NotificationsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        platform = args.platform
        child = pulumi.ResourceOptions(parent=self)
        key = aws.kms.Key(
            f"{name}-key",
            description=f"Notices of {platform.cluster_name}",
            enable_key_rotation=True,
            deletion_window_in_days=platform.cluster.key_deletion_days,
            policy=key_policy(platform),
            opts=child,
        )
        aws.kms.Alias(f"{name}-alias", name=f"alias/{topic_name(platform)}", target_key_id=key.key_id, opts=child)
        self.topic = aws.sns.Topic(f"{name}-topic", name=topic_name(platform), kms_master_key_id=key.arn, opts=child)
        policy = aws.sns.TopicPolicy(
            f"{name}-topic-policy", arn=self.topic.arn, policy=topic_policy(platform), opts=child
        )
        for logical, (protocol, endpoint) in subscribers(platform.notifications).items():
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


def key_policy(platform: Platform) -> str:
    """Key policy: the account manages the key, and the services use it to encrypt messages."""
    partition = regions.REGIONS[platform.account.region].partition
    return document(
        account_administration(partition, platform.account.id),
        Statement(
            "Services",
            ["kms:Decrypt", "kms:GenerateDataKey*"],
            ["*"],
            principals={"Service": SERVICES},
            conditions={"StringEquals": {"aws:SourceAccount": [platform.account.id]}},
        ),
    )


def topic_policy(platform: Platform) -> str:
    """Topic policy: the services publish only for this account, and every request must use TLS."""
    arn = topic_arn(platform) or ""
    return document(
        Statement(
            "Services",
            ["sns:Publish"],
            [arn],
            principals={"Service": SERVICES},
            conditions={"StringEquals": {"aws:SourceAccount": [platform.account.id]}},
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

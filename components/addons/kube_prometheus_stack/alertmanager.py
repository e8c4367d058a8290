"""Alertmanager's configuration: alerts go to the platform's SNS topic, or nowhere if there is none.

It publishes with the pod's own permissions, so there is no secret. Subscribers filter by the message attributes `team`
and `severity` (SNS subscription filter policies), so routing by team needs no change here.
"""

from __future__ import annotations

from typing import Any, Final

from components.base.addon import AddOnContext
from components.base.iam import Statement, document
from components.observability.notifications import topic_name
from spec.catalog import regions

SERVICE_ACCOUNT: Final = "kube-prometheus-stack-alertmanager"
"""Name that the chart derives from the release (88.5.3, templates/_helpers.tpl)."""
_NULL_RECEIVER: Final = "null"
_BY: Final = ["alertname", "team", "namespace"]
"""Alerts are grouped: one message for the same alert of the same team and namespace."""


def publish(topic: str, context: AddOnContext) -> str:
    """Permissions to publish to the topic and to use its key."""
    region = regions.get(context.cluster.region)
    return document(
        Statement(sid="Publish", actions=["sns:Publish"], resources=[topic]),
        Statement(
            sid="Encrypt",
            actions=["kms:Decrypt", "kms:GenerateDataKey*"],
            resources=[f"arn:{region.partition}:kms:{region.name}:{context.cluster.account_id}:key/*"],
            conditions={
                "ForAnyValue:StringEquals": {"kms:ResourceAliases": [f"alias/{topic_name(context.platform)}"]},
                "StringEquals": {"kms:ViaService": [f"sns.{region.name}.{region.dns_suffix}"]},
            },
        ),
    )


def configuration(topic: str | None, region: str, environment: str) -> dict[str, Any]:
    """Alertmanager's configuration (prometheus.io, "Alerting configuration", 0.34).

    Args:
        topic: ARN of the topic; without one, no alert is sent.
        region: AWS Region of the topic.
        environment: Name of the environment, for the subject line.
    """
    receiver = _topic(topic, region, environment) if topic else None
    # Two alerts of the chart that aren't for people: one is a heartbeat, the other inhibits info alerts.
    quiet = {"receiver": _NULL_RECEIVER, "matchers": ['alertname =~ "Watchdog|InfoInhibitor"']}
    minor = {"receiver": _NULL_RECEIVER, "matchers": ['severity = "info"']}
    urgent = {
        "receiver": "notices",
        "matchers": ['severity = "critical"'],
        "group_wait": "10s",
        "repeat_interval": "4h",
    }
    return {
        "global": {"resolve_timeout": "5m"},
        "inhibit_rules": _inhibitions(),
        "route": {
            "receiver": "notices" if receiver else _NULL_RECEIVER,
            "group_by": _BY,
            "group_wait": "1m",
            "group_interval": "5m",
            "repeat_interval": "12h",
            "routes": [quiet, minor, urgent] if receiver else [quiet],
        },
        "receivers": [{"name": _NULL_RECEIVER}, *([receiver] if receiver else [])],
        "templates": ["/etc/alertmanager/config/*.tmpl"],
    }


def _topic(topic: str, region: str, environment: str) -> dict[str, Any]:
    label = "{{ .CommonLabels.%s }}"
    subject = f"[{environment}] {{{{ .Status | toUpper }}}} {label % 'alertname'} {label % 'team'}"
    attributes = {name: f"{{{{ or .CommonLabels.{name} `none` }}}}" for name in ("severity", "team")}
    sns = {
        "topic_arn": topic,
        "sigv4": {"region": region},
        "subject": subject,
        "attributes": attributes,
        "send_resolved": True,
    }
    return {"name": "notices", "sns_configs": [sns]}


def _inhibitions() -> list[dict[str, Any]]:
    """An alert inhibits less severe ones with the same name and namespace."""
    pairs = (("critical", "warning|info"), ("warning", "info"))
    return [
        {
            "source_matchers": [f'severity = "{source}"'],
            "target_matchers": [f'severity =~ "{target}"'],
            "equal": ["namespace", "alertname"],
        }
        for source, target in pairs
    ]

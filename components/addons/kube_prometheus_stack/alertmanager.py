"""Who is told of an alert: the platform's SNS topic, and nobody where there is none.

SNS is asked with the pod's own rights, so there is no secret. Subscribers choose by the message's attributes `team` and
`severity` (SNS subscription filter policies), so that routing by team needs no change here.
"""

from __future__ import annotations

from typing import Any, Final

from components.base.addon import AddOnContext
from components.base.iam import Statement, document
from components.observability.notifications import topic_name
from spec.catalog import regions

SERVICE_ACCOUNT: Final = "kube-prometheus-stack-alertmanager"
"""As the chart names it after the release (88.5.3, templates/_helpers.tpl)."""
_NOBODY: Final = "null"
_BY: Final = ["alertname", "team", "namespace"]
"""One message for what belongs together: the same alert of the same team."""


def publish(topic: str, context: AddOnContext) -> str:
    """Publish to the topic, and use its key."""
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
        topic: ARN of the topic; nobody is told where None.
        region: AWS Region of the topic.
        environment: Name of the environment, for the subject line.
    """
    told = _topic(topic, region, environment) if topic else None
    # The chart's own rules tell by these two that they work, and what hides minor alerts; no person wants them.
    quiet = {"receiver": _NOBODY, "matchers": ['alertname =~ "Watchdog|InfoInhibitor"']}
    minor = {"receiver": _NOBODY, "matchers": ['severity = "info"']}
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
            "receiver": "notices" if told else _NOBODY,
            "group_by": _BY,
            "group_wait": "1m",
            "group_interval": "5m",
            "repeat_interval": "12h",
            "routes": [quiet, minor, urgent] if told else [quiet],
        },
        "receivers": [{"name": _NOBODY}, *([told] if told else [])],
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
    """The worse of two alerts about the same thing hides the other."""
    pairs = (("critical", "warning|info"), ("warning", "info"))
    return [
        {
            "source_matchers": [f'severity = "{source}"'],
            "target_matchers": [f'severity =~ "{target}"'],
            "equal": ["namespace", "alertname"],
        }
        for source, target in pairs
    ]

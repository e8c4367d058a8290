"""Prometheus, Alertmanager, Grafana and their exporters, with the platform's own rules, monitors and dashboards.

Alertmanager's configuration: alerts go to the platform's SNS topic, or nowhere if there is none.

It publishes with the pod's own permissions, so there is no secret. Subscribers filter by the message attributes `team`
and `severity` (SNS subscription filter policies), so routing by team needs no change here.

Values are of the chart 88.5.3.

"""

from typing import Any, Final

from components.base.addon import AddOn, AddOnContext, ChartRelease, Parts, Permissions
from components.base.iam import Inline, Statement, document
from components.base.placement import every_toleration, keeps_one, sized
from components.observability import dashboards, efa, monitors, rules
from spec.catalog import regions
from spec.catalog.software import CHARTS
from spec.pools import keys
from spec.settings.addons.cost import Opencost
from spec.settings.addons.observability import Grafana
from spec.settings.addons.observability import KubePrometheusStack as Settings
from spec.teams import labels

SERVICE_ACCOUNT: Final = "kube-prometheus-stack-alertmanager"
"""Name that the chart derives from the release (88.5.3, templates/_helpers.tpl)."""
_NULL_RECEIVER: Final = "null"
_BY: Final = ["alertname", "team", "namespace"]
"""Alerts are grouped: one message for the same alert of the same team and namespace."""


def publish(topic: str, context: AddOnContext) -> str:
    """Permissions to publish to the topic and to use its key."""
    region = regions.get(context.cluster.region)
    return document(
        Statement("Publish", ["sns:Publish"], [topic]),
        Statement(
            "Encrypt",
            ["kms:Decrypt", "kms:GenerateDataKey*"],
            [f"arn:{region.partition}:kms:{region.name}:{context.cluster.account_id}:key/*"],
            conditions={
                "ForAnyValue:StringEquals": {"kms:ResourceAliases": [f"alias/{topic.rpartition(':')[2]}"]},
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


NAMESPACE: Final = "monitoring"

LABELS: Final = {
    "namespaces": (labels.TEAM, labels.PROJECT),
    "pods": (labels.TEAM, labels.PROJECT, labels.JOB),
    "nodes": (keys.POOL, "node.kubernetes.io/instance-type", keys.CAPACITY_TYPE, "eks.amazonaws.com/capacityType"),
}
"""Labels that kube-state-metrics exports; a short list limits the number of series."""
CRDS_ONLY: Final[dict[str, Any]] = {
    **{
        part: {"enabled": False}
        for part in (
            "alertmanager",
            "coreDns",
            "grafana",
            "kubeApiServer",
            "kubeControllerManager",
            "kubeEtcd",
            "kubeProxy",
            "kubeScheduler",
            "kubeStateMetrics",
            "kubelet",
            "nodeExporter",
            "prometheus",
            "prometheusOperator",
        )
    },
    "defaultRules": {"create": False},
}
"""Values that make the chart install only its `crds/`."""
_DISABLED_RULES: Final = (
    "etcd",
    "kubeControllerManager",
    "kubeProxy",
    "kubeSchedulerAlerting",
    "kubeSchedulerRecording",
)
"""Disabled rule groups: control plane components that EKS runs, and kube-proxy, whose metrics listen on localhost."""


def values(settings: Settings, context: AddOnContext, *, topic: str | None) -> dict[str, Any]:
    """All values.

    Args:
        settings: Settings of the add-on.
        context: The platform that it is installed on.
        topic: ARN of the topic for alerts, if any.
    """
    placement = context.placement
    block = context.storage.classes["block"]
    unseen = {
        component: {"enabled": False}
        for component in ("kubeControllerManager", "kubeEtcd", "kubeProxy", "kubeScheduler")
    }
    return {
        **unseen,
        "defaultRules": {"rules": dict.fromkeys(_DISABLED_RULES, False)},
        "prometheusOperator": _operator(placement),
        "prometheus": _prometheus(settings, placement, block),
        "alertmanager": _alertmanager(settings, context, placement, block, topic),
        "grafana": grafana(settings.grafana, placement),
        "kube-state-metrics": {
            **placement,
            "resources": sized("50m", "256Mi"),
            "metricLabelsAllowlist": [f"{kind}=[{','.join(labels)}]" for kind, labels in LABELS.items()],
        },
        "prometheus-node-exporter": {
            "resources": sized("50m", "64Mi"),
            "tolerations": every_toleration(context.pools),
            "priorityClassName": "system-node-critical",
        },
    }


def _operator(placement: dict[str, Any]) -> dict[str, Any]:
    return {
        **placement,
        "resources": sized("100m", "256Mi"),
        "admissionWebhooks": {"patch": {**placement, "resources": sized("10m", "64Mi")}},
        "prometheusConfigReloader": {"resources": sized("10m", "64Mi")},
    }


def _volume(block: str, gib: int) -> dict[str, Any]:
    spec = {
        "storageClassName": block,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{gib}Gi"}},
    }
    return {"volumeClaimTemplate": {"spec": spec}}


def _prometheus(settings: Settings, placement: dict[str, Any], block: str) -> dict[str, Any]:
    opened = {
        f"{kind}SelectorNilUsesHelmValues": False
        for kind in ("rule", "serviceMonitor", "podMonitor", "probe", "scrapeConfig")
    }
    spec = {
        **opened,
        **placement,
        "scrapeClasses": [monitors.scrape_class()],
        "replicas": settings.replicas,
        "retention": f"{settings.retention_days}d",
        # A tenth of the volume is left for the write-ahead log and compaction.
        "retentionSize": f"{settings.storage_gib * 9 // 10}GiB",
        "resources": sized("500m", f"{settings.memory_gib}Gi"),
        "storageSpec": _volume(block, settings.storage_gib),
        # Replicas run on different nodes: two on one node would be lost together.
        "podAntiAffinity": "hard" if settings.replicas > 1 else "soft",
    }
    return {"prometheusSpec": spec, "podDisruptionBudget": {"enabled": keeps_one(settings.replicas)}}


def _alertmanager(
    settings: Settings, context: AddOnContext, placement: dict[str, Any], block: str, topic: str | None
) -> dict[str, Any]:
    return {
        "config": configuration(topic, context.cluster.region, context.environment),
        "podDisruptionBudget": {"enabled": keeps_one(settings.replicas)},
        "alertmanagerSpec": {
            **placement,
            "replicas": settings.replicas,
            "resources": sized("20m", "128Mi"),
            "storage": _volume(block, 1),
        },
    }


def grafana(settings: Grafana, placement: dict[str, Any]) -> dict[str, Any]:
    """Grafana without an administrator, or with one from an existing Secret (docs/adr/0024).

    Dashboards are provisioned from files, so no one needs to edit them. Everyone who can reach Grafana, by `kubectl
    port-forward` or through a proxy in front of it, can view them.
    """
    shared = {
        **placement,
        "resources": sized("100m", "384Mi"),
        "defaultDashboardsTimezone": "utc",
        # The chart's default is all namespaces, where a member's ConfigMap would replace a dashboard by its file name.
        "sidecar": {"resources": sized("20m", "128Mi"), "dashboards": {"searchNamespace": NAMESPACE}},
        "testFramework": {"enabled": False},
    }
    if settings.admin_secret is not None:
        return {**shared, "admin": {"existingSecret": settings.admin_secret}}
    return {
        **shared,
        # The chart generates no password if this is set (grafana 12.11.1, templates/_config.tpl and secret.yaml).
        "env": {"GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION": "true"},
        "grafana.ini": {
            "auth": {"disable_login_form": True},
            "auth.anonymous": {"enabled": True, "org_role": "Viewer"},
        },
        # A reload through Grafana's API needs an administrator. Without it, dashboards are still read from their folder
        # every 30 s, but data sources only at startup, so an init container provides them.
        "sidecar": {
            **shared["sidecar"],
            "dashboards": {**shared["sidecar"]["dashboards"], "skipReload": True},
            "datasources": {"skipReload": True, "initDatasources": True},
        },
    }


RELEASE: Final = "kube-prometheus-stack"
CRDS: Final = f"{RELEASE}-crds"
"""Release with only the chart's CRDs, so that add-ons with a monitor don't depend on Prometheus (docs/adr/0048)."""


class KubePrometheusStack(AddOn[Settings]):
    """Metrics, alerts and dashboards. Its namespace is privileged because node-exporter reads from the host."""

    name = "kube-prometheus-stack"
    software = CHARTS["kube-prometheus-stack"]

    def parts(self, context: AddOnContext) -> Parts:
        """Two releases of one chart; rules and monitors, which need its CRDs, and dashboards."""
        topic = context.topic
        permissions = (
            [
                Permissions(
                    service_account=SERVICE_ACCOUNT,
                    policy=Inline(document=publish(topic, context)),
                    role="alertmanager",
                )
            ]
            if topic
            else []
        )
        chart_values = values(self.settings, context, topic=topic)
        return Parts(
            permissions=permissions,
            before=dashboards.manifests(NAMESPACE),
            releases=[
                ChartRelease(ref=self.software, release_name=CRDS, values=CRDS_ONLY, crds_only=True),
                ChartRelease(
                    ref=self.software, release_name=RELEASE, values=chart_values, skip_crds=True, volumes=True
                ),
            ],
            objects=self._objects(context),
        )

    def _objects(self, context: AddOnContext) -> dict[str, dict[str, Any]]:
        exporter = efa.manifest(NAMESPACE, context.pools)
        ruled = rules.manifests(
            NAMESPACE,
            self.settings.alerts,
            context.pools,
            opencost=context.addons.has(Opencost),
            budgets={name: team.budget_usd for name, team in context.teams.items() if team.budget_usd},
        )
        watched = monitors.manifests(NAMESPACE, efa=exporter is not None)
        return {**ruled, **watched, **({"efa-exporter": exporter} if exporter else {})}

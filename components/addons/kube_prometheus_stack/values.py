"""Values of the chart (kube-prometheus-stack 88.5.3) that differ from its defaults, as pure functions."""

from __future__ import annotations

from typing import Any, Final

from components.addons.kube_prometheus_stack.alertmanager import configuration
from components.base.addon import AddOnContext
from components.base.placement import every_toleration, system_placement
from components.base.sizing import keeps_one, sized
from spec.pools import keys
from spec.settings.addons.observability import Grafana, KubePrometheusStack

NAMESPACE: Final = "monitoring"

LABELS: Final = {
    "namespaces": ("platform.slipway/team", "platform.slipway/project"),
    "pods": ("platform.slipway/team", "platform.slipway/project", "platform.slipway/job"),
    "nodes": (
        keys.POOL,
        "node.kubernetes.io/instance-type",
        "karpenter.sh/capacity-type",
        "eks.amazonaws.com/capacityType",
    ),
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


def values(settings: KubePrometheusStack, context: AddOnContext, *, topic: str | None) -> dict[str, Any]:
    """All values.

    Args:
        settings: Settings of the add-on.
        context: The platform that it is installed on.
        topic: ARN of the topic for alerts, if any.
    """
    placement = system_placement(context)
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


def _prometheus(settings: KubePrometheusStack, placement: dict[str, Any], block: str) -> dict[str, Any]:
    opened = {
        f"{kind}SelectorNilUsesHelmValues": False
        for kind in ("rule", "serviceMonitor", "podMonitor", "probe", "scrapeConfig")
    }
    spec = {
        **opened,
        **placement,
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
    settings: KubePrometheusStack, context: AddOnContext, placement: dict[str, Any], block: str, topic: str | None
) -> dict[str, Any]:
    environment = context.platform.environment.name
    return {
        "config": configuration(topic, context.cluster.region, environment),
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

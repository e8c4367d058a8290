"""PodMonitors, which need no Service, for what charts have no monitors for, and what holds for every monitor.

Add-ons enable the monitors of their charts (Kueue, GPU Operator, OpenCost). The monitors here are for charts without
one, or for those installed before the CRDs of Prometheus, whose charts then omit the monitor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from components.base.operator import object_of
from components.observability.efa import PATH
from components.observability.rules import API
from spec.settings.checks.teams import RESERVED, RESERVED_PREFIXES
from spec.teams.labels import JOB

SCRAPED_BY: Final = "scraped_by"
"""Label of a target that says whether it is the platform's; it is dropped before samples are stored."""
OF_PLATFORM: Final = (
    "ALERTS", "DCGM_", "apiserver_", "certmanager_", "container_", "karpenter_", "kube_", "kubelet_", "kueue_", "node_",
    "slipway:",
)  # fmt: skip
"""Beginnings of names of metrics that alerts, costs and dashboards read and that no team exports; a test compares."""


def scrape_class() -> dict[str, Any]:
    """The class of every monitor: what is read in another namespace than the platform's has none of its metrics' names.

    A pod of a team that exports `kube_namespace_labels` or `slipway:pod:usd_per_hour` would bill another team. The
    label `job` doesn't tell: Prometheus takes it from the name of a Service, which a team may call as it likes. A class
    comes before the rules of a monitor, and teams may not choose another (kube-prometheus-stack 88.5.3,
    crd-prometheuses.yaml, `scrapeClasses`; components/admission/monitors.py).
    """
    spaces = "|".join([*sorted(RESERVED), *(f"{prefix}.+" for prefix in RESERVED_PREFIXES)])
    names = "|".join(OF_PLATFORM)
    return {
        "name": "platform",
        "default": True,
        "relabelings": [
            {"targetLabel": SCRAPED_BY, "replacement": "member"},
            {
                "sourceLabels": ["__meta_kubernetes_namespace"],
                "regex": spaces,
                "targetLabel": SCRAPED_BY,
                "replacement": "platform",
            },
        ],
        "metricRelabelings": [
            {"sourceLabels": [SCRAPED_BY, "__name__"], "regex": f"member;(?:{names}).*", "action": "drop"},
            {"regex": SCRAPED_BY, "action": "labeldrop"},
        ],
    }


RAY_LABEL: Final = "ray.io/node-type"
SERVING_LABEL: Final = "serving.kserve.io/inferenceservice"


def pod_monitor(
    name: str,
    namespace: str,
    *,
    match: Mapping[str, Any],
    port: str,
    of: Sequence[str] | None = None,
    endpoint: Mapping[str, Any] | None = None,
    node: bool = False,
) -> dict[str, Any]:
    """A PodMonitor.

    Args:
        name: Its name.
        namespace: Its namespace.
        match: Label selector of the pods.
        port: Name of the container port.
        of: Namespaces of the pods; all if None.
        endpoint: What else its endpoint has: `path`, `honorLabels`.
        node: Whether to add the label `node` with the name of the pod's node.
    """
    labels = [{"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}] if node else []
    read: dict[str, Any] = {"port": port, "path": "/metrics", "followRedirects": False, **(endpoint or {})}
    body = {
        "selector": dict(match),
        "namespaceSelector": {"any": True} if of is None else {"matchNames": list(of)},
        "podMetricsEndpoints": [{**read, "relabelings": labels} if labels else read],
    }
    return object_of(API, "PodMonitor", name, namespace, spec=body)


def serving(namespace: str) -> dict[str, Any]:
    """A PodMonitor of model servers: annotations of runtimes give port and path of the metrics, and KServe copies them
    to the pod (v0.20, ServingRuntime.spec.annotations)."""
    annotation = "__meta_kubernetes_pod_annotation_prometheus_kserve_io"
    labels = [
        {"sourceLabels": ["__meta_kubernetes_pod_container_name"], "regex": "kserve-container", "action": "keep"},
        {"sourceLabels": [f"{annotation}_path"], "regex": "(.+)", "targetLabel": "__metrics_path__"},
        {
            "sourceLabels": ["__meta_kubernetes_pod_ip", f"{annotation}_port"],
            "separator": ":",
            "regex": "(.+:[0-9]+)",
            "targetLabel": "__address__",
        },
        {
            "sourceLabels": ["__meta_kubernetes_pod_label_serving_kserve_io_inferenceservice"],
            "targetLabel": "inferenceservice",
        },
    ]
    body = {
        "selector": {"matchExpressions": [{"key": SERVING_LABEL, "operator": "Exists"}]},
        "namespaceSelector": {"any": True},
        "podMetricsEndpoints": [{"relabelings": labels, "followRedirects": False}],
    }
    return object_of(API, "PodMonitor", "slipway-serving", namespace, spec=body)


def manifests(namespace: str, *, efa: bool) -> dict[str, dict[str, Any]]:
    """The platform's monitors by key.

    Args:
        namespace: Their namespace.
        efa: Whether a pool has EFA, so that the exporter runs.
    """
    named = "app.kubernetes.io/name"
    podmonitors = {
        # karpenter 1.14.1, templates/deployment.yaml: port `http-metrics`. Its chart omits the monitor if the CRDs
        # aren't installed yet, and Karpenter is installed before all add-ons.
        "karpenter": pod_monitor(
            "karpenter", namespace, match={"matchLabels": {named: "karpenter"}}, port="http-metrics", of=["kube-system"]
        ),
        # cert-manager v1.21.1: port `http-metrics` of all its pods. KServe depends on cert-manager, which must not
        # depend on Prometheus.
        "cert-manager": pod_monitor(
            "cert-manager",
            namespace,
            match={"matchLabels": {"app.kubernetes.io/instance": "cert-manager"}},
            port="http-metrics",
            of=["cert-manager"],
            # Else every certificate would be one of the namespace cert-manager.
            endpoint={"honorLabels": True},
        ),
        # Metrics that a job exports on a port named `metrics`: steps, losses, checkpoints.
        "jobs": pod_monitor(
            "slipway-jobs", namespace, match={"matchExpressions": [{"key": JOB, "operator": "Exists"}]}, port="metrics"
        ),
        # KubeRay gives each Ray container a port `metrics`, 8080 (v1.6.1, DefaultHeadPodTemplate); `jobs` has the pods
        # with a job label.
        "ray": pod_monitor(
            "slipway-ray",
            namespace,
            match={
                "matchExpressions": [{"key": RAY_LABEL, "operator": "Exists"}, {"key": JOB, "operator": "DoesNotExist"}]
            },
            port="metrics",
        ),
        "serving": serving(namespace),
    }
    if efa:
        podmonitors["efa"] = pod_monitor(
            "efa-exporter",
            namespace,
            match={"matchLabels": {named: "efa-exporter"}},
            port="metrics",
            of=[namespace],
            endpoint={"path": PATH},
            node=True,
        )
    return {f"monitor-{key}": manifest for key, manifest in podmonitors.items()}

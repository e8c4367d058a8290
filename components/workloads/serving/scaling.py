"""Autoscaling of model servers by GPU utilization and waiting requests.

CPU, the default metric of autoscalers, is meaningless for a model server, which waits for its GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from components.workloads.checks.bounds import count_problems, served_problems
from components.workloads.resources import Resources
from components.workloads.target import Target
from spec.settings.addons.observability import KubePrometheusStack
from spec.settings.addons.serving import Keda
from spec.settings.problems import Problem

PROMETHEUS: Final = "http://kube-prometheus-stack-prometheus.monitoring:9090"
BEHAVIOUR: Final[dict[str, Any]] = {
    # Up fast, because users wait; down slowly, because a new replica takes minutes to load its model.
    "scaleUp": {
        "stabilizationWindowSeconds": 0,
        "policies": [{"type": "Pods", "value": 2, "periodSeconds": 30}],
        "selectPolicy": "Max",
    },
    "scaleDown": {
        "stabilizationWindowSeconds": 300,
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": 120}],
        "selectPolicy": "Min",
    },
}
"""Up by two pods every 30 s; down by one every 120 s, after 300 s of stabilization."""


@dataclass(frozen=True, kw_only=True)
class Autoscaling:
    """Limits and metrics of autoscaling.

    Attributes:
        min_replicas: Minimum number of replicas; two, so that one can be evicted.
        max_replicas: Maximum number of replicas, which limits the cost.
        gpu_percent: Target GPU utilization, averaged over the pods; None to ignore it.
        waiting: Target number of waiting requests per pod; None to ignore it.
        waiting_metric: Metric of the server that counts waiting requests.
        by: `keda`: KEDA reads Prometheus and creates the HorizontalPodAutoscaler. `hpa`: the program declares one, for
            a cluster with an adapter that serves these metrics as custom metrics (prometheus-adapter).
        prometheus: URL of Prometheus.
    """

    min_replicas: int = 2
    max_replicas: int = 20
    gpu_percent: int | None = 70
    waiting: int | None = 5
    waiting_metric: str = "vllm:num_requests_waiting"
    by: Literal["keda", "hpa"] = "keda"
    prometheus: str = PROMETHEUS


def gpu_metric(resources: Resources) -> str:
    """Metric of the DCGM exporter for GPU utilization. The usual one doesn't exist for MIG instances; they have the
    engine's active time (NVIDIA DCGM, "Profiling Metrics"; from 0 to 1)."""
    return "DCGM_FI_PROF_GR_ENGINE_ACTIVE" if resources.mig else "DCGM_FI_DEV_GPU_UTIL"


def queries(scaling: Autoscaling, resources: Resources, selector: str) -> dict[str, tuple[str, int]]:
    """PromQL and its target per pod, by name. The queries are sums, which autoscalers divide by the number of pods.

    Args:
        scaling: Limits and metrics.
        resources: Resources of a pod.
        selector: Label matchers of the pods: `namespace="team",pod=~"chat-.*"`.
    """
    targets: dict[str, tuple[str, int]] = {}
    if scaling.gpu_percent is not None:
        factor = "100 * " if resources.mig else ""
        targets["gpu"] = (f"{factor}sum({gpu_metric(resources)}{{{selector}}})", scaling.gpu_percent)
    if scaling.waiting is not None:
        targets["waiting"] = (f"sum({scaling.waiting_metric}{{{selector}}})", scaling.waiting)
    return targets


def scaled_object(scaling: Autoscaling, resources: Resources, selector: str, deployment: str) -> dict[str, Any]:
    """Spec of a KEDA ScaledObject. If Prometheus doesn't answer, the number of replicas isn't changed."""
    triggers = [
        {
            "type": "prometheus",
            "name": name,
            "metricType": "AverageValue",
            "metadata": {"serverAddress": scaling.prometheus, "query": query, "threshold": str(threshold)},
        }
        for name, (query, threshold) in queries(scaling, resources, selector).items()
    ]
    return {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": deployment},
        "minReplicaCount": scaling.min_replicas,
        "maxReplicaCount": scaling.max_replicas,
        "pollingInterval": 15,
        "fallback": {"failureThreshold": 4, "replicas": scaling.min_replicas, "behavior": "currentReplicasIfHigher"},
        "advanced": {"horizontalPodAutoscalerConfig": {"behavior": BEHAVIOUR}},
        "triggers": triggers,
    }


def autoscaler(scaling: Autoscaling, resources: Resources, deployment: str) -> dict[str, Any]:
    """Spec of a HorizontalPodAutoscaler (autoscaling/v2) on custom metrics of the pods."""
    named = {
        gpu_metric(resources): None if scaling.gpu_percent is None else _gpu_target(scaling.gpu_percent, resources),
        scaling.waiting_metric.replace(":", "_"): None if scaling.waiting is None else str(scaling.waiting),
    }
    metrics = [
        {
            "type": "Pods",
            "pods": {"metric": {"name": name}, "target": {"type": "AverageValue", "averageValue": threshold}},
        }
        for name, threshold in named.items()
        if threshold is not None
    ]
    return {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": deployment},
        "minReplicas": scaling.min_replicas,
        "maxReplicas": scaling.max_replicas,
        "metrics": metrics,
        "behavior": BEHAVIOUR,
    }


def _gpu_target(percent: int, resources: Resources) -> str:
    return f"{percent * 10}m" if resources.mig else str(percent)


def scaling_problems(scaling: Autoscaling, target: Target) -> Iterator[Problem]:
    """Problems with the limits and metrics of an autoscaler."""
    yield from count_problems("autoscaling.max_replicas", scaling.max_replicas, 1, 100)
    if not 1 <= scaling.min_replicas <= scaling.max_replicas:
        rule = f"it must be from 1 to max_replicas ({scaling.max_replicas})"
        fix = "Set it to 2 or more, so that one can be evicted; scaling to 0 isn't supported here."
        yield Problem("autoscaling.min_replicas", rule, scaling.min_replicas, fix)
    if scaling.gpu_percent is None and scaling.waiting is None:
        rule = "autoscaling needs a metric: GPU utilization, waiting requests"
        yield Problem("autoscaling", rule, None, "Set gpu_percent, waiting or both.")
    if scaling.gpu_percent is not None:
        yield from count_problems("autoscaling.gpu_percent", scaling.gpu_percent, 1, 99)
    if scaling.waiting is not None:
        yield from count_problems("autoscaling.waiting", scaling.waiting, 1, 10_000)
    if scaling.by == "keda":
        yield from served_problems(target, "autoscaling by KEDA", Keda, KubePrometheusStack)

"""What KEDA makes of a ScaledObject: its operator is compared with it, and Kubernetes' autoscaler is run on it."""

from typing import Final

from sandbox.kubernetes.objects import Object

METRIC: Final = "s0-prometheus"
"""KEDA's name of the first trigger's metric (pkg/scalers/scaler.go, GenerateMetricNameWithIndex)."""
NAMED: Final = "scaledobject.keda.sh/name"
SCALED: Final = "keda.sh/v1alpha1"


def autoscaler(scaled: Object) -> Object:
    """The HorizontalPodAutoscaler of a ScaledObject."""
    name, namespace, spec = scaled["metadata"]["name"], scaled["metadata"]["namespace"], scaled["spec"]
    (trigger,) = spec["triggers"]
    metric = {"name": METRIC, "selector": {"matchLabels": {NAMED: name}}}
    target = {"type": "AverageValue", "averageValue": trigger["metadata"]["threshold"]}
    advanced = (spec.get("advanced") or {}).get("horizontalPodAutoscalerConfig") or {}
    owner = {"apiVersion": SCALED, "kind": "ScaledObject", "name": name, "uid": scaled["metadata"]["uid"]}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": f"keda-hpa-{name}", "namespace": namespace, "ownerReferences": [owner]},
        "spec": {
            "minReplicas": spec["minReplicaCount"],
            "maxReplicas": spec["maxReplicaCount"],
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", **spec["scaleTargetRef"]},
            "metrics": [{"type": "External", "external": {"metric": metric, "target": target}}],
            "behavior": advanced.get("behavior") or {},
        },
    }

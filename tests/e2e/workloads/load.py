"""Load that a test makes up, for models that scale by it: KServe's own ScaledObject, Kubernetes' own autoscaler.

KEDA does not run in the sandbox, so its part is here: the HorizontalPodAutoscaler of a ScaledObject, as its operator
makes it (tests/sandbox/controllers/test_keda.py compares the two), and the API from which the autoscaler of
kube-controller-manager reads its metric. That API is a CRD of the same group, version and plural: the autoscaler lists
`/apis/external.metrics.k8s.io/v1beta1/namespaces/NAMESPACE/METRIC` by a label (k8s.io/metrics 1.36,
pkg/client/external_metrics), and reads `value` of each item. Two kinds of one group can't have one name, so there is
one metric.
"""

import time
from collections.abc import Sequence
from typing import Any, Final

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from tests.support.patience import SECONDS

GROUP: Final = "external.metrics.k8s.io"
METRIC: Final = "s0-prometheus"
"""KEDA's name of the first trigger's metric (pkg/scalers/scaler.go, GenerateMetricNameWithIndex)."""
KIND: Final = "ExternalMetricValue"
NAMED: Final = "scaledobject.keda.sh/name"
SCALED: Final = "keda.sh/v1alpha1"
AT_ONCE: Final = {"stabilizationWindowSeconds": 0}


def metrics_api() -> Object:
    """The CRD that stands in for KEDA's metrics server."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": METRIC, "singular": METRIC, "kind": KIND, "listKind": f"{KIND}List"}
    # Groups of Kubernetes need it (kubernetes.io, "api-approved.kubernetes.io").
    approved = {"api-approved.kubernetes.io": "unapproved, a test's stand-in"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{METRIC}.{GROUP}", "annotations": approved},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def autoscaler(scaled: Object) -> Object:
    """What KEDA makes of a ScaledObject."""
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


class Load:
    """The load of the models of one namespace."""

    def __init__(self, client: KubeClient, namespace: str) -> None:
        self._client, self._namespace = client, namespace
        client.apply(metrics_api(), "test", force=True)
        until(self._served, SECONDS, "the API of metrics is not served")

    def on(self, name: str) -> None:
        """Play KEDA for the ScaledObject of a model, once KServe has made it; it scales down without waiting."""
        ref = Ref(SCALED, "ScaledObject", f"{name}-predictor", self._namespace)
        scaled = until(lambda: self._client.get(ref), SECONDS, f"KServe makes no ScaledObject of {name}")
        made = autoscaler(scaled)
        made["spec"]["behavior"] |= {"scaleDown": {**made["spec"]["behavior"].get("scaleDown", {}), **AT_ONCE}}
        self._client.apply(made, "test", force=True)

    def is_now(self, name: str, waiting: int) -> None:
        """So many requests wait for a model, in all of its pods together."""
        named = f"{name}-predictor"
        value = {
            "apiVersion": f"{GROUP}/v1beta1",
            "kind": KIND,
            "metadata": {"name": named, "namespace": self._namespace, "labels": {NAMED: named}},
            "metricName": METRIC,
            "metricLabels": {},
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "value": str(waiting),
        }
        self._client.apply(value, "test", force=True)

    def pods(self, name: str) -> int:
        """How many pods of a model run."""
        kind = self._client.discovery.find("v1", "Pod")
        found = self._client.list(kind, self._namespace, selector=f"serving.kserve.io/inferenceservice={name}")
        return sum((one.get("status") or {}).get("phase") == "Running" for one in found)

    def wait(self, names: Sequence[str], pods: int) -> None:
        """Until so many pods of each model run.

        Raises:
            AssertionError: They don't in time.
        """
        deadline = time.monotonic() + SECONDS
        while (seen := {name: self.pods(name) for name in names}) != dict.fromkeys(names, pods):
            assert time.monotonic() < deadline, f"{pods} pods are wanted of each: {seen}"
            time.sleep(1)

    def end(self) -> None:
        """Remove the stand-in."""
        self._client.delete(Ref.of(metrics_api()))

    def _served(self) -> Any:
        return self._client.get_path("/apis").get("groups") and any(
            group["name"] == GROUP for group in self._client.get_path("/apis")["groups"]
        )

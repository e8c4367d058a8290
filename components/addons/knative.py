"""Knative Serving by its operator, with Kourier as ingress: autoscaling by requests, down to zero (knative.dev).

KServe needs it only for its mode `Knative`. It needs no Istio: Kourier serves Knative's routes and nothing else.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.placement import system_placement
from spec.catalog.charts import KNATIVE_OPERATOR
from spec.settings.addons.serving import Knative as Settings

NAMESPACE: Final = "knative-serving"
SERVING: Final = "1.21.1"
"""Version that the operator installs: the one that KServe is tested with (kserve/kserve, kserve-deps.env)."""


class Knative(AddOn[Settings]):
    """The operator, and the KnativeServing resource that it reconciles."""

    name: ClassVar[str] = "knative"
    # The operator installs Knative into this namespace too; its activator and webhooks run without root.
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="baseline")

    def parts(self, context: AddOnContext) -> Parts:
        """One release and one KnativeServing."""
        return Parts(
            releases=[ChartRelease(ref=KNATIVE_OPERATOR, release_name="knative-operator", values={})],
            objects={"serving": serving(self.settings, placement=system_placement(context))},
        )


def serving(settings: Settings, *, placement: dict[str, Any]) -> dict[str, Any]:
    """The KnativeServing resource, with Kourier (knative.dev, "Configure Knative Serving CRDs").

    Args:
        settings: Settings of the add-on.
        placement: `nodeSelector` and `tolerations` of its pods.
    """
    names = ("activator", "autoscaler", "controller", "webhook", "net-kourier-controller", "3scale-kourier-gateway")
    return {
        "apiVersion": "operator.knative.dev/v1beta1",
        "kind": "KnativeServing",
        "metadata": {"name": "knative-serving", "namespace": NAMESPACE},
        "spec": {
            "version": SERVING,
            "ingress": {"kourier": {"enabled": True}},
            "config": {
                "network": {"ingress-class": "kourier.ingress.networking.knative.dev"},
                # KServe schedules a model's pods on GPU nodes and mounts volumes in them.
                "features": {
                    "kubernetes.podspec-nodeselector": "enabled",
                    "kubernetes.podspec-tolerations": "enabled",
                    "kubernetes.podspec-persistent-volume-claim": "enabled",
                    "kubernetes.podspec-persistent-volume-write": "enabled",
                },
            },
            "high-availability": {"replicas": settings.replicas},
            "workloads": [{"name": name, **placement} for name in names],
        },
    }

"""KServe as Helm releases, CRDs first, with serving runtimes for the pools of the stack."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from components.addons.kserve import ingress
from components.addons.kserve.ingress import NAMESPACE
from components.addons.kserve.runtimes import runtimes
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.controllers import Controller
from components.base.placement import system_placement
from components.base.sizing import keeps_one, uncapped
from spec.catalog.charts import KSERVE, KSERVE_CRD
from spec.settings.addons.serving import Kserve as Settings

CONTROLLER: Final = "kserve-controller-manager"
CPU_LIMIT: Final = "4"
"""More than the controller uses when it reconciles hundreds of models."""


class Kserve(AddOn[Settings]):
    """CRDs, controller, runtimes, and the load balancer of models."""

    name: ClassVar[str] = "kserve"
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="restricted")
    controllers: ClassVar[tuple[Controller, ...]] = (Controller(account=CONTROLLER, makes=("Ingress",)),)

    def parts(self, context: AddOnContext) -> Parts:
        """Two releases, the CRDs first, and the runtimes."""
        chart_values = values(self.settings, region=context.cluster.region, placement=system_placement(context))
        serving = runtimes(context.pools, self.settings.runtimes)
        objects = {f"runtime-{name}": manifest for name, manifest in serving.items()}
        objects |= ingress.manifests(self.settings)
        if keeps_one(self.settings.replicas):
            objects |= replicated(self.settings.replicas)
        return Parts(
            releases=[
                ChartRelease(ref=KSERVE_CRD, release_name="kserve-crd", values={}, crds_only=True),
                ChartRelease(ref=KSERVE, release_name="kserve", values=chart_values),
            ],
            objects=objects,
        )


def values(settings: Settings, *, region: str, placement: dict[str, Any]) -> dict[str, Any]:
    """Values of the chart kserve-resources (v0.20.0) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        region: AWS Region of the model buckets.
        placement: `nodeSelector` and `tolerations` of its pods.
    """
    return {
        "kserve": {
            "controller": {
                "deploymentMode": settings.default_deployment_mode,
                "gateway": _ingress(settings),
                # The chart's limits (0.1 CPU, 300 MiB) are too small for a few hundred models. Its base manifest has a
                # CPU limit as well, which values can replace and not remove (templates/_utils.tpl, deepMerge).
                "resources": {
                    "requests": {"cpu": "100m", "memory": "512Mi"},
                    "limits": {"cpu": CPU_LIMIT, "memory": "512Mi"},
                },
                "rbacProxy": {"resources": uncapped("10m", "64Mi")},
                **placement,
            },
            "storage": {
                # The storage initializer, which downloads a model before its server starts: it buffers more for a
                # larger model.
                "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}, "limits": {"cpu": "4", "memory": "8Gi"}},
                "s3": {"region": region, "useHttps": "1", "verifySSL": "1", "useVirtualBucket": "true"},
            },
        }
    }


def _ingress(settings: Settings) -> dict[str, Any]:
    """Ingress of the models: an Ingress of class `models`, a Gateway, or neither."""
    by_gateway = settings.ingress == "gateway"
    gateway: dict[str, Any] = {"enableGatewayApi": by_gateway}
    if by_gateway:
        gateway["kserveGateway"] = f"{NAMESPACE}/{ingress.NAME}"
    if settings.ingress == "alb" and settings.default_deployment_mode == "Standard":
        gateway["className"] = ingress.NAME
    return {
        "domain": settings.ingress_domain,
        "urlScheme": "https" if settings.https else "http",
        # There is no Istio: in Knative mode Kourier replaces it.
        "disableIstioVirtualHost": True,
        "disableIngressCreation": settings.ingress == "none",
        "ingressGateway": gateway,
    }


def replicated(replicas: int) -> dict[str, dict[str, Any]]:
    """Replicas of the controller, one of them the leader: its webhooks fail closed for InferenceServices and pods.

    The chart has no value for it, and a Deployment without `replicas` belongs to its autoscaler. One with equal bounds
    needs no metrics: below the minimum it scales before it asks for any (kubernetes, pkg/controller/podautoscaler,
    `reconcileAutoscaler`; 1.36).
    """
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": CONTROLLER}
    return {
        "replicas": {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": CONTROLLER, "namespace": NAMESPACE},
            "spec": {"scaleTargetRef": target, "minReplicas": replicas, "maxReplicas": replicas},
        },
        "budget": {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": CONTROLLER, "namespace": NAMESPACE},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"control-plane": CONTROLLER}}},
        },
    }

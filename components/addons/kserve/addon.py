"""KServe as releases, CRDs first, with runtimes of our own for the pools of the stack."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from components.addons.gateway_api import CLASS as GATEWAY_CLASS
from components.addons.kserve.runtimes import runtimes
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.placement import system_placement
from components.base.sizing import sized
from spec.catalog.charts import KSERVE, KSERVE_CRD
from spec.settings.addons.serving import Kserve as Settings

NAMESPACE: Final = "kserve"
GATEWAY: Final = "models"


class Kserve(AddOn[Settings]):
    """CRDs, controller, runtimes; a gateway where requests come by one."""

    name: ClassVar[str] = "kserve"
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="restricted")

    def parts(self, context: AddOnContext) -> Parts:
        """Two releases, one after the other, and the runtimes."""
        given = values(self.settings, region=context.cluster.region, placement=system_placement(context))
        objects = {f"runtime-{name}": made for name, made in runtimes(context.pools, self.settings.runtimes).items()}
        if self.settings.ingress == "gateway":
            objects["gateway"] = gateway(self.settings)
        return Parts(
            releases=[
                ChartRelease(ref=KSERVE_CRD, release_name="kserve-crd", values={}, definitions=True),
                ChartRelease(ref=KSERVE, release_name="kserve", values=given),
            ],
            objects=objects,
        )


def values(settings: Settings, *, region: str, placement: dict[str, Any]) -> dict[str, Any]:
    """Values of the chart kserve-resources (v0.20.0) that differ from its own.

    Args:
        settings: Settings of the add-on.
        region: AWS Region of the buckets of models.
        placement: `nodeSelector` and `tolerations` of its pods.
    """
    return {
        "kserve": {
            "controller": {
                "deploymentMode": settings.default_deployment_mode,
                "gateway": _way_in(settings),
                # The chart's limits (0.1 CPU, 300 MiB) are not enough for some hundred models; charts.md of KServe
                # gives none.
                "resources": sized("100m", "512Mi"),
                "rbacProxy": {"resources": sized("10m", "64Mi")},
                **placement,
            },
            "storage": {
                # What loads a model before its server starts: the larger the model, the more it buffers.
                "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}, "limits": {"cpu": "4", "memory": "8Gi"}},
                "s3": {"region": region, "useHttps": "1", "verifySSL": "1", "useVirtualBucket": "true"},
            },
            # Every server gets the annotation by which Prometheus finds its metrics.
            "metricsaggregator": {"enablePrometheusScraping": "true"},
        }
    }


def _way_in(settings: Settings) -> dict[str, Any]:
    """How requests reach the models: an Ingress of class `alb`, a Gateway, or neither."""
    by_gateway = settings.ingress == "gateway"
    gateway: dict[str, Any] = {"enableGatewayApi": by_gateway}
    if by_gateway:
        gateway["kserveGateway"] = f"{NAMESPACE}/{GATEWAY}"
    if settings.default_deployment_mode == "Standard":
        gateway["className"] = "alb"
    return {
        "domain": settings.ingress_domain,
        "urlScheme": "https" if settings.https else "http",
        # There is no Istio: in Knative mode Kourier takes its place.
        "disableIstioVirtualHost": True,
        "disableIngressCreation": settings.ingress == "none",
        "ingressGateway": gateway,
    }


def gateway(settings: Settings) -> dict[str, Any]:
    """The one gateway of all models; each InferenceService hangs a route on it."""
    listener = {
        "name": "models",
        "hostname": f"*.{settings.ingress_domain}",
        "port": 443 if settings.https else 80,
        "protocol": "HTTPS" if settings.https else "HTTP",
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": GATEWAY, "namespace": NAMESPACE},
        "spec": {"gatewayClassName": GATEWAY_CLASS, "listeners": [listener]},
    }

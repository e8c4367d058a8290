"""KServe as Helm releases, CRDs first, with serving runtimes for the pools of the stack."""

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
    """CRDs, controller, runtimes; a Gateway with `ingress: gateway`."""

    name: ClassVar[str] = "kserve"
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="restricted")

    def parts(self, context: AddOnContext) -> Parts:
        """Two releases, the CRDs first, and the runtimes."""
        chart_values = values(self.settings, region=context.cluster.region, placement=system_placement(context))
        serving = runtimes(context.pools, self.settings.runtimes)
        objects = {f"runtime-{name}": manifest for name, manifest in serving.items()}
        if self.settings.ingress == "gateway":
            objects["gateway"] = gateway(self.settings)
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
                # The chart's limits (0.1 CPU, 300 MiB) are too small for a few hundred models; charts.md of KServe
                # recommends none.
                "resources": sized("100m", "512Mi"),
                "rbacProxy": {"resources": sized("10m", "64Mi")},
                **placement,
            },
            "storage": {
                # The storage initializer, which downloads a model before its server starts: it buffers more for a
                # larger model.
                "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}, "limits": {"cpu": "4", "memory": "8Gi"}},
                "s3": {"region": region, "useHttps": "1", "verifySSL": "1", "useVirtualBucket": "true"},
            },
            # Every server gets the annotations that Prometheus discovers its metrics by.
            "metricsaggregator": {"enablePrometheusScraping": "true"},
        }
    }


def _ingress(settings: Settings) -> dict[str, Any]:
    """Ingress of the models: an Ingress of class `alb`, a Gateway, or neither."""
    by_gateway = settings.ingress == "gateway"
    gateway: dict[str, Any] = {"enableGatewayApi": by_gateway}
    if by_gateway:
        gateway["kserveGateway"] = f"{NAMESPACE}/{GATEWAY}"
    if settings.default_deployment_mode == "Standard":
        gateway["className"] = "alb"
    return {
        "domain": settings.ingress_domain,
        "urlScheme": "https" if settings.https else "http",
        # There is no Istio: in Knative mode Kourier replaces it.
        "disableIstioVirtualHost": True,
        "disableIngressCreation": settings.ingress == "none",
        "ingressGateway": gateway,
    }


def gateway(settings: Settings) -> dict[str, Any]:
    """The Gateway that all models share; each InferenceService attaches an HTTPRoute."""
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

"""What ingress needs: certificates for webhooks and endpoints, renewed before they expire (cert-manager.io), and the
Gateway API: its CRDs, and a GatewayClass of the AWS Load Balancer Controller.

The Gateway API publishes YAML but no chart; this uses the chart of Envoy Gateway's CRDs without Envoy's own CRDs
(gateway.envoyproxy.io, "Gateway CRDs Helm Chart").
"""

from typing import Any, Final

from components.base.addon import AddOn, AddOnContext, ChartAddOn, ChartRelease, Parts
from components.base.operator import object_of
from components.base.placement import keeps_one, sized
from spec.catalog.software import CHARTS
from spec.settings.addons import ingress


class CertManager(ChartAddOn[ingress.CertManager]):
    """Controller, webhook and CA injector. Certificates survive an uninstall, because the CRDs are kept."""

    name = "cert-manager"
    software = CHARTS["cert-manager"]

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values of the chart that differ from its defaults.

        The chart's monitor stays disabled, because cert-manager would then depend on Prometheus, and KServe on both.
        Prometheus finds its pods with a monitor of the platform (`components.observability.monitors`).
        """
        placement, replicas = context.placement, self.settings.replicas
        webhook = {"replicaCount": replicas, "resources": sized("25m", "64Mi"), **placement}
        if keeps_one(replicas):
            webhook["podDisruptionBudget"] = {"enabled": True, "minAvailable": 1}
        return {
            # Kept on uninstall: deleting the CRDs would delete every certificate of the cluster.
            "crds": {"enabled": True, "keep": True},
            # Leases in its own namespace: it needs no permissions in kube-system.
            "global": {"leaderElection": {"namespace": self.namespace.name}},
            "resources": sized("25m", "128Mi"),
            **placement,
            "webhook": webhook,
            "cainjector": {"resources": sized("25m", "256Mi"), **placement},
            "startupapicheck": {"resources": sized("10m", "64Mi"), **placement},
        }


CLASS: Final = "alb"
CONTROLLER: Final = "gateway.k8s.aws/alb"
"""Controller name of its GatewayClasses (AWS Load Balancer Controller v3.5, "Gateway API")."""


class GatewayApi(AddOn[ingress.GatewayApi]):
    """CRDs of the standard channel, and the GatewayClass `alb`."""

    name = "gateway-api"
    software = CHARTS["gateway-crds-helm"]

    def parts(self, context: AddOnContext) -> Parts:  # noqa: ARG002 - it doesn't depend on the context
        """One release and one GatewayClass, whose Gateways become Application Load Balancers."""
        # By default the chart installs nothing.
        values: dict[str, Any] = {
            "crds": {"gatewayAPI": {"enabled": True, "channel": "standard"}, "envoyGateway": {"enabled": False}}
        }
        alb = object_of("gateway.networking.k8s.io/v1", "GatewayClass", CLASS, spec={"controllerName": CONTROLLER})
        release = ChartRelease(ref=self.software, release_name="gateway-crds", values=values, crds_only=True)
        return Parts(releases=[release], objects={"class": alb})

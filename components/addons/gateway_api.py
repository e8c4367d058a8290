"""The Gateway API: its CRDs, and a GatewayClass of the AWS Load Balancer Controller.

The Gateway API publishes YAML but no chart; this uses the chart of Envoy Gateway's CRDs without Envoy's own CRDs
(gateway.envoyproxy.io, "Gateway CRDs Helm Chart").
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from spec.catalog.charts import GATEWAY_CRDS
from spec.settings.addons.ingress import GatewayApi as Settings

CLASS: Final = "alb"
CONTROLLER: Final = "gateway.k8s.aws/alb"
"""Controller name of its GatewayClasses (AWS Load Balancer Controller v3.5, "Gateway API")."""


class GatewayApi(AddOn[Settings]):
    """CRDs of the standard channel, and the GatewayClass `alb`."""

    name: ClassVar[str] = "gateway-api"
    namespace: ClassVar[Namespace] = Namespace(name="kube-system", enforce=None)

    def parts(self, context: AddOnContext) -> Parts:  # noqa: ARG002 - it doesn't depend on the context
        """One release and one GatewayClass."""
        return Parts(
            releases=[ChartRelease(ref=GATEWAY_CRDS, release_name="gateway-crds", values=values(), crds_only=True)],
            objects={"class": gateway_class()},
        )


def values() -> dict[str, Any]:
    """Values of the chart (v1.8) that differ from its defaults: by default it installs nothing."""
    return {"crds": {"gatewayAPI": {"enabled": True, "channel": "standard"}, "envoyGateway": {"enabled": False}}}


def gateway_class() -> dict[str, Any]:
    """The GatewayClass whose Gateways become Application Load Balancers."""
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "GatewayClass",
        "metadata": {"name": CLASS},
        "spec": {"controllerName": CONTROLLER},
    }

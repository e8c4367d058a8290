"""The Gateway API: its CRDs, and a class of gateways that the AWS Load Balancer Controller serves.

The Gateway API publishes YAML and no chart; the chart used here is that of Envoy Gateway's CRDs with Envoy's own left
out (gateway.envoyproxy.io, "Gateway CRDs Helm Chart").
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from spec.catalog.charts import GATEWAY_CRDS
from spec.settings.addons.ingress import GatewayApi as Settings

CLASS: Final = "alb"
CONTROLLER: Final = "gateway.k8s.aws/alb"
"""Name under which the controller looks for its gateways (AWS Load Balancer Controller v3.5, "Gateway API")."""


class GatewayApi(AddOn[Settings]):
    """CRDs of the standard channel, and the class `alb`."""

    name: ClassVar[str] = "gateway-api"
    namespace: ClassVar[Namespace] = Namespace(name="kube-system", enforce=None)

    def parts(self, context: AddOnContext) -> Parts:  # noqa: ARG002 - it is the same on every site
        """One release and one class."""
        return Parts(
            releases=[ChartRelease(ref=GATEWAY_CRDS, release_name="gateway-crds", values=values(), definitions=True)],
            objects={"class": gateway_class()},
        )


def values() -> dict[str, Any]:
    """Values of the chart (v1.8) that differ from its own: nothing is installed unless asked for."""
    return {"crds": {"gatewayAPI": {"enabled": True, "channel": "standard"}, "envoyGateway": {"enabled": False}}}


def gateway_class() -> dict[str, Any]:
    """The class of gateways that become Application Load Balancers."""
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "GatewayClass",
        "metadata": {"name": CLASS},
        "spec": {"controllerName": CONTROLLER},
    }

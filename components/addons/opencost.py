"""OpenCost: cost per pod from Prometheus metrics and public prices; lighter than Kubecost (opencost.io)."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from components.addons.kube_prometheus_stack.addon import RELEASE as PROMETHEUS_RELEASE
from components.addons.kube_prometheus_stack.values import NAMESPACE as PROMETHEUS_NAMESPACE
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.placement import system_placement
from components.base.sizing import sized
from spec.catalog.charts import OPENCOST
from spec.settings.addons.cost import Opencost as Settings

NAMESPACE: Final = "opencost"


class Opencost(AddOn[Settings]):
    """The exporter, which Prometheus scrapes and which queries Prometheus, and the web UI."""

    name: ClassVar[str] = "opencost"
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="baseline")

    def parts(self, context: AddOnContext) -> Parts:
        """One release."""
        chart_values = values(self.settings, cluster=context.cluster.name, placement=system_placement(context))
        return Parts(releases=[ChartRelease(ref=OPENCOST, release_name="opencost", values=chart_values)])


def values(settings: Settings, *, cluster: str, placement: dict[str, Any]) -> dict[str, Any]:
    """Values of the chart (2.5.17) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        cluster: Name of the cluster, its ID in the metrics. `clusterName` of the chart is a DNS suffix.
        placement: `nodeSelector` and `tolerations` of its pod.
    """
    return {
        "opencost": {
            **placement,
            "exporter": {"defaultClusterId": cluster, "resources": sized("100m", f"{settings.memory_gib}Gi")},
            "ui": {"resources": sized("10m", "64Mi")},
            # The MCP server, a port that gives programs access to all cost data; nothing here uses it.
            "mcp": {"enabled": False},
            "metrics": {"serviceMonitor": {"enabled": True}},
            "prometheus": {
                "internal": {
                    "serviceName": f"{PROMETHEUS_RELEASE}-prometheus",
                    "namespaceName": PROMETHEUS_NAMESPACE,
                    "port": 9090,
                }
            },
        }
    }

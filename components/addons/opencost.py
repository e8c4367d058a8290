"""OpenCost: cost per pod from Prometheus metrics and public prices; lighter than Kubecost (opencost.io)."""

from typing import Any

from components.addons.kube_prometheus_stack import NAMESPACE as PROMETHEUS_NAMESPACE
from components.addons.kube_prometheus_stack import RELEASE as PROMETHEUS_RELEASE
from components.base.addon import AddOnContext, ChartAddOn
from components.base.placement import sized
from spec.catalog.software import CHARTS
from spec.settings.addons.cost import Opencost as Settings


class Opencost(ChartAddOn[Settings]):
    """The exporter, which Prometheus scrapes and which queries Prometheus, and the web UI."""

    name = "opencost"
    software = CHARTS["opencost"]

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values of the chart that differ from its defaults."""
        return {
            "opencost": {
                **context.placement,
                "exporter": {
                    # The cluster's ID in the metrics; `clusterName` of the chart is a DNS suffix.
                    "defaultClusterId": context.cluster.name,
                    "resources": sized("100m", f"{self.settings.memory_gib}Gi"),
                },
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

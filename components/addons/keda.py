"""KEDA: autoscaling by metrics and events, down to zero replicas (keda.sh)."""

from __future__ import annotations

from typing import Any, ClassVar

from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.controllers import Controller
from components.base.placement import system_placement
from components.base.sizing import keeps_one, scraped, uncapped
from spec.catalog.charts import KEDA
from spec.settings.addons.serving import Keda as Settings


class Keda(AddOn[Settings]):
    """Operator, metrics server and webhook. It is the cluster's only external metrics server."""

    name: ClassVar[str] = "keda"
    namespace: ClassVar[Namespace] = Namespace(name="keda", enforce="restricted")
    controllers: ClassVar[tuple[Controller, ...]] = (Controller(account="keda-operator", makes=("Job",)),)

    def parts(self, context: AddOnContext) -> Parts:
        """One release."""
        chart_values = values(
            self.settings, cluster=context.cluster.name, placement=system_placement(context), monitored=scraped(context)
        )
        return Parts(releases=[ChartRelease(ref=KEDA, release_name="keda", values=chart_values)])


def values(settings: Settings, *, cluster: str, placement: dict[str, Any], monitored: bool) -> dict[str, Any]:
    """Values of the chart (2.20.2) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        cluster: Name of the cluster in what scalers report.
        placement: `nodeSelector` and `tolerations` of its pods.
        monitored: Whether Prometheus is installed.
    """
    budget = {"minAvailable": 1} if keeps_one(settings.replicas) else {}
    measured = {"enabled": monitored, "serviceMonitor": {"enabled": monitored}}
    return {
        "clusterName": cluster,
        "operator": {"replicaCount": settings.replicas},
        "metricsServer": {"replicaCount": settings.replicas},
        # The webhook fails open: the operator then reports an invalid scaler instead.
        "webhooks": {"replicaCount": settings.replicas},
        "podDisruptionBudget": {"operator": budget, "metricServer": budget, "webhooks": budget},
        "resources": {
            "operator": uncapped("50m", "256Mi"),
            "metricServer": uncapped("50m", "128Mi"),
            "webhooks": uncapped("10m", "64Mi"),
        },
        **placement,
        "prometheus": {"operator": measured, "metricServer": measured, "webhooks": measured},
    }

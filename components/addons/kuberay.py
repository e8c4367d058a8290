"""KubeRay: Ray clusters, jobs and services as custom resources (github.com/ray-project/kuberay)."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.controllers import Controller
from components.base.placement import system_placement
from components.base.sizing import keeps_one, scraped, uncapped
from spec.catalog.charts import KUBERAY
from spec.settings.addons.batch import Kuberay as Settings
from spec.settings.addons.batch import Volcano

NAMESPACE: Final = "kuberay"
NAME: Final = "kuberay-operator"


class Kuberay(AddOn[Settings]):
    """The operator. It has no webhook: the API server validates objects by their CRDs, and Kueue's webhook by its own
    rules."""

    name: ClassVar[str] = "kuberay"
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="restricted")
    controllers: ClassVar[tuple[Controller, ...]] = (Controller(account=NAME, makes=("Job", "Pod", "RayCluster")),)

    def parts(self, context: AddOnContext) -> Parts:
        """One release, and a PodDisruptionBudget, which the chart has no value for."""
        chart_values = values(
            self.settings,
            placement=system_placement(context),
            monitored=scraped(context),
            gang_scheduler="volcano" if context.platform.addons.has(Volcano) else None,
        )
        objects = {"budget": budget()} if keeps_one(self.settings.replicas) else {}
        return Parts(releases=[ChartRelease(ref=KUBERAY, release_name=NAME, values=chart_values)], objects=objects)


def values(
    settings: Settings, *, placement: dict[str, Any], monitored: bool, gang_scheduler: str | None
) -> dict[str, Any]:
    """Values of the chart (1.6.1) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        placement: `nodeSelector` and `tolerations` of its pods.
        monitored: Whether Prometheus is installed.
        gang_scheduler: Scheduler for which it creates PodGroups; None for the default scheduler.
    """
    return {
        "replicas": settings.replicas,
        # 500 Ray pods need about 500 MB (the chart's values.yaml).
        "resources": uncapped("100m", f"{settings.memory_gib}Gi"),
        "metrics": {"serviceMonitor": {"enabled": monitored}},
        **placement,
        **({"batchScheduler": {"name": gang_scheduler}} if gang_scheduler else {}),
    }


def budget() -> dict[str, Any]:
    """A PodDisruptionBudget that keeps one replica."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/name": NAME}}},
    }

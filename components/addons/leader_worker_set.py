"""LeaderWorkerSet: groups of pods replicated as a unit, for multi-node inference (lws.sigs.k8s.io)."""

from __future__ import annotations

from typing import Any, ClassVar

from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.controllers import Controller
from components.base.placement import system_placement
from components.base.sizing import keeps_one, scraped, sized
from spec.catalog.charts import LEADER_WORKER_SET
from spec.settings.addons.batch import LeaderWorkerSet as Settings

NAMESPACE = "lws-system"


class LeaderWorkerSet(AddOn[Settings]):
    """The controller and its webhook; it issues the webhook's certificate itself."""

    name: ClassVar[str] = "leader-worker-set"
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="restricted")
    controllers: ClassVar[tuple[Controller, ...]] = (
        Controller(account="lws-controller-manager", makes=("StatefulSet",)),
    )

    def parts(self, context: AddOnContext) -> Parts:
        """One release, and a PodDisruptionBudget, which the chart has no value for."""
        chart_values = values(self.settings, placement=system_placement(context), monitored=scraped(context))
        objects = {"budget": budget()} if keeps_one(self.settings.replicas) else {}
        return Parts(
            releases=[ChartRelease(ref=LEADER_WORKER_SET, release_name="lws", values=chart_values)], objects=objects
        )


def values(settings: Settings, *, placement: dict[str, Any], monitored: bool) -> dict[str, Any]:
    """Values of the chart (0.10.0) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        placement: `nodeSelector` and `tolerations` of its pods.
        monitored: Whether Prometheus is installed.
    """
    return {
        "replicaCount": settings.replicas,
        "resources": sized("50m", "256Mi"),
        # The chart sets no seccomp profile, and the level `restricted` requires one.
        "podSecurityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        **placement,
        "enablePrometheus": monitored,
    }


def budget() -> dict[str, Any]:
    """A PodDisruptionBudget that keeps one controller pod available: its webhook fails closed."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "lws-controller-manager", "namespace": NAMESPACE},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"control-plane": "controller-manager"}}},
    }

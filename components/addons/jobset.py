"""JobSet: groups of Jobs that start, fail and restart together (jobset.sigs.k8s.io)."""

from __future__ import annotations

from typing import Any, ClassVar

from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.controllers import Controller
from components.base.placement import system_placement
from components.base.sizing import keeps_one, uncapped
from spec.catalog.charts import JOBSET
from spec.settings.addons.batch import Jobset as Settings


class Jobset(AddOn[Settings]):
    """The controller and its webhook; it issues the webhook's certificate itself."""

    name: ClassVar[str] = "jobset"
    namespace: ClassVar[Namespace] = Namespace(name="jobset-system", enforce="restricted")
    controllers: ClassVar[tuple[Controller, ...]] = (Controller(account="jobset-controller", makes=("Job",)),)

    def parts(self, context: AddOnContext) -> Parts:
        """One release."""
        chart_values = values(self.settings, placement=system_placement(context))
        return Parts(releases=[ChartRelease(ref=JOBSET, release_name="jobset", values=chart_values)])


def values(settings: Settings, *, placement: dict[str, Any]) -> dict[str, Any]:
    """Values of the chart (0.12.0) that differ from its defaults.

    Its metrics aren't scraped: the chart's monitor needs a certificate that only its cert-manager mode creates, and
    Kueue and kube-state-metrics report the state of JobSets (pending, running, failed).

    Args:
        settings: Settings of the add-on.
        placement: `nodeSelector` and `tolerations` of its pods.
    """
    budget = {"podDisruptionBudget": {"enabled": True}} if keeps_one(settings.replicas) else {}
    return {
        "controller": {
            "replicas": settings.replicas,
            "resources": uncapped("50m", "256Mi"),
            **placement,
            **budget,
        },
    }

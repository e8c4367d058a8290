"""Volcano: a batch scheduler (volcano.sh) for jobs and queues that users bring.

The queues of teams are Kueue's; a stack has one of the two.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.placement import system_placement
from components.base.sizing import sized
from spec.catalog.charts import VOLCANO
from spec.settings.addons.batch import Volcano as Settings

TEAM_LABEL: Final = "platform.slipway/team"


class Volcano(AddOn[Settings]):
    """Scheduler, controllers and admission."""

    name: ClassVar[str] = "volcano"
    # Its containers add DAC_OVERRIDE, which the level `restricted` refuses.
    namespace: ClassVar[Namespace] = Namespace(name="volcano-system", enforce="baseline")

    def parts(self, context: AddOnContext) -> Parts:
        """One release."""
        chart_values = values(self.settings, placement=system_placement(context))
        return Parts(releases=[ChartRelease(ref=VOLCANO, release_name="volcano", values=chart_values)])


def values(settings: Settings, *, placement: dict[str, Any]) -> dict[str, Any]:
    """Values of the chart (1.15.1) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        placement: `nodeSelector` and `tolerations` of its pods.
    """
    return {
        "custom": {
            "admission_replicas": settings.replicas,
            "controller_replicas": settings.replicas,
            "scheduler_replicas": settings.replicas,
            "leader_elect_enable": settings.replicas > 1,
            "default_ns": placement["nodeSelector"],
            "default_tolerations": placement["tolerations"],
            "admission_resources": sized("50m", "256Mi"),
            "controller_resources": sized("100m", "512Mi"),
            "scheduler_resources": sized("200m", "1Gi"),
            # Its webhooks fail closed, so they apply only to team namespaces and never to those of the platform.
            "webhooks_namespace_selector_expressions": [{"key": TEAM_LABEL, "operator": "Exists"}],
        },
    }

"""Kueue as a Helm release. The queues belong to teams and are declared with them."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import yaml

from components.addons.kueue.configuration import FRAMEWORKS, configuration, frameworks
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.controllers import Controller
from components.base.placement import system_placement
from components.base.sizing import keeps_one, scraped, uncapped
from spec.catalog.charts import KUEUE
from spec.settings.addons.batch import Kueue as Settings

NAMESPACE: Final = "kueue-system"


class Kueue(AddOn[Settings]):
    """The manager and its webhooks; it issues their certificates itself."""

    name: ClassVar[str] = "kueue"
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="restricted")
    controllers: ClassVar[tuple[Controller, ...]] = (
        Controller(account="kueue-controller-manager", changes=(*FRAMEWORKS, "Pod")),
    )

    def parts(self, context: AddOnContext) -> Parts:
        """One release."""
        chart_values = values(
            self.settings,
            configured=configuration(
                self.settings, cluster=context.cluster.name, integrations=frameworks(context.platform.addons)
            ),
            placement=system_placement(context),
            monitored=scraped(context),
        )
        return Parts(releases=[ChartRelease(ref=KUEUE, release_name="kueue", values=chart_values)])


def values(
    settings: Settings, *, configured: dict[str, Any], placement: dict[str, Any], monitored: bool
) -> dict[str, Any]:
    """Values of the chart (0.19.2) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        configured: The manager's configuration.
        placement: `nodeSelector` and `tolerations` of its pods.
        monitored: Whether Prometheus is installed.
    """
    return {
        "enablePrometheus": monitored,
        "controllerManager": {
            "replicas": settings.replicas,
            "manager": {"resources": uncapped("250m", f"{settings.memory_gib}Gi")},
            "podDisruptionBudget": {"enabled": keeps_one(settings.replicas)},
            **placement,
        },
        # The chart takes the whole configuration as one text: missing fields have Kueue's defaults, not the chart's.
        "managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(configured, sort_keys=True)},
    }

"""Kubeflow Trainer as a Helm release, with training runtimes for the pools of the stack."""

from __future__ import annotations

from typing import Any, ClassVar

from components.addons.trainer.runtimes import IMAGE, runtimes
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.controllers import Controller
from components.base.placement import system_placement
from components.base.sizing import sized
from spec.catalog.charts import TRAINER
from spec.settings.addons.batch import Trainer as Settings


class Trainer(AddOn[Settings]):
    """The controller and its webhook, and the runtimes."""

    name: ClassVar[str] = "trainer"
    namespace: ClassVar[Namespace] = Namespace(name="kubeflow-system", enforce="restricted")
    controllers: ClassVar[tuple[Controller, ...]] = (
        Controller(account="kubeflow-trainer-controller-manager", makes=("JobSet",)),
    )

    def parts(self, context: AddOnContext) -> Parts:
        """One release, a general runtime and one for each training pool."""
        chart_values = values(self.settings, placement=system_placement(context))
        training = runtimes(context.pools, image=self.settings.image or IMAGE)
        return Parts(
            releases=[ChartRelease(ref=TRAINER, release_name="kubeflow-trainer", values=chart_values)],
            objects={f"runtime-{name}": manifest for name, manifest in training.items()},
        )


def values(settings: Settings, *, placement: dict[str, Any]) -> dict[str, Any]:
    """Values of the chart (2.3.0) that differ from its defaults.

    The chart's runtimes are disabled: a job that downloads kubectl from the internet would install them.

    Args:
        settings: Settings of the add-on.
        placement: `nodeSelector` and `tolerations` of its pods.
    """
    return {
        "jobset": {"install": False},
        "manager": {"replicas": settings.replicas, "resources": sized("50m", "256Mi"), **placement},
    }

"""Kubeflow Trainer as a release, and runtimes of our own for the pools of the stack."""

from __future__ import annotations

from typing import Any, ClassVar

from components.addons.trainer.runtimes import IMAGE, runtimes
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.placement import system_placement
from components.base.sizing import sized
from spec.catalog.charts import TRAINER
from spec.settings.addons.batch import Trainer as Settings


class Trainer(AddOn[Settings]):
    """The controller with its webhook, and the runtimes."""

    name: ClassVar[str] = "trainer"
    namespace: ClassVar[Namespace] = Namespace(name="kubeflow-system", enforce="restricted")

    def parts(self, context: AddOnContext) -> Parts:
        """One release and a runtime for each pool of training."""
        given = values(self.settings, placement=system_placement(context))
        made = runtimes(context.pools, image=self.settings.image or IMAGE)
        return Parts(
            releases=[ChartRelease(ref=TRAINER, release_name="kubeflow-trainer", values=given)],
            objects={f"runtime-{name}": manifest for name, manifest in made.items()},
        )


def values(settings: Settings, *, placement: dict[str, Any]) -> dict[str, Any]:
    """Values of the chart (2.3.0) that differ from its own.

    Its runtimes stay off: a job that fetches kubectl from the internet would install them.

    Args:
        settings: Settings of the add-on.
        placement: `nodeSelector` and `tolerations` of its pods.
    """
    return {
        "jobset": {"install": False},
        "manager": {"replicas": settings.replicas, "resources": sized("50m", "256Mi"), **placement},
    }

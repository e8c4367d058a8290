"""Settings of the software on the cluster: one class an add-on, one file a family.

An add-on is on where the stack file names it, so a file reads as the list of what runs: `kueue: {}` with all defaults.
"""

from __future__ import annotations

from collections.abc import Iterator

from infra.config.addons.base import AddonSettings
from infra.config.addons.observability import KubePrometheusStack
from infra.config.base import Model

__all__ = ["AddonSettings", "Addons"]


class Addons(Model):
    """Every add-on that a stack may have, each at most once."""

    kube_prometheus_stack: KubePrometheusStack | None = None
    """Metrics, alerts and dashboards."""

    def wanted(self) -> Iterator[tuple[str, AddonSettings]]:
        """Add-ons that are on, by their key in the stack file, in the order of this class."""
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if value is not None:
                yield str(field.alias), value

    def has(self, kind: type[AddonSettings]) -> bool:
        """Whether an add-on is on."""
        return any(type(value) is kind for _, value in self.wanted())

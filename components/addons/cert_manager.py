"""cert-manager: certificates for webhooks and endpoints, renewed before they expire (cert-manager.io)."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.placement import system_placement
from components.base.sizing import keeps_one, sized
from spec.catalog.charts import CERT_MANAGER
from spec.settings.addons.ingress import CertManager as Settings

NAMESPACE: Final = "cert-manager"


class CertManager(AddOn[Settings]):
    """Controller, webhook and CA injector. Certificates survive an uninstall, because the CRDs are kept."""

    name: ClassVar[str] = "cert-manager"
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="restricted")

    def parts(self, context: AddOnContext) -> Parts:
        """One release."""
        chart_values = values(self.settings, placement=system_placement(context))
        return Parts(releases=[ChartRelease(ref=CERT_MANAGER, release_name="cert-manager", values=chart_values)])


def values(settings: Settings, *, placement: dict[str, Any]) -> dict[str, Any]:
    """Values of the chart (v1.21.1) that differ from its defaults.

    The chart's monitor stays disabled, because cert-manager would then depend on Prometheus, and KServe on both.
    Prometheus finds its pods with a monitor of the platform (`components.observability.monitors`).

    Args:
        settings: Settings of the add-on.
        placement: `nodeSelector` and `tolerations` of its pods.
    """
    webhook = {"replicaCount": settings.replicas, "resources": sized("25m", "64Mi"), **placement}
    if keeps_one(settings.replicas):
        webhook["podDisruptionBudget"] = {"enabled": True, "minAvailable": 1}
    return {
        # Kept on uninstall: deleting the CRDs would delete every certificate of the cluster.
        "crds": {"enabled": True, "keep": True},
        # Leases in its own namespace: it needs no permissions in kube-system.
        "global": {"leaderElection": {"namespace": NAMESPACE}},
        "resources": sized("25m", "128Mi"),
        **placement,
        "webhook": webhook,
        "cainjector": {"resources": sized("25m", "256Mi"), **placement},
        "startupapicheck": {"resources": sized("10m", "64Mi"), **placement},
    }

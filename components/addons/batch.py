"""Controllers of batch kinds, a chart each: JobSet (groups of Jobs that start, fail and restart together,
jobset.sigs.k8s.io), LeaderWorkerSet (groups of pods replicated as a unit, for multi-node inference, lws.sigs.k8s.io)
and KubeRay (github.com/ray-project/kuberay).
"""

from typing import Any

from components.base.addon import AddOnContext, ChartAddOn
from components.base.controllers import Controller
from components.base.placement import keeps_one, sized, uncapped
from spec.catalog.software import CHARTS
from spec.settings.addons import batch


class Jobset(ChartAddOn[batch.Jobset]):
    """The controller and its webhook; it issues the webhook's certificate itself."""

    name = "jobset"
    software = CHARTS["jobset"]
    controllers = (Controller(account="jobset-controller", makes=("Job",)),)

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values of the chart that differ from its defaults.

        Its metrics aren't scraped: the chart's monitor needs a certificate that only its cert-manager mode creates, and
        Kueue and kube-state-metrics report the state of JobSets (pending, running, failed).
        """
        budget = {"podDisruptionBudget": {"enabled": True}} if keeps_one(self.settings.replicas) else {}
        return {
            "controller": {
                "replicas": self.settings.replicas,
                "resources": uncapped("50m", "256Mi"),
                **context.placement,
                **budget,
            }
        }


class LeaderWorkerSet(ChartAddOn[batch.LeaderWorkerSet]):
    """The controller and its webhook, which fails closed; it issues the webhook's certificate itself."""

    name = "leader-worker-set"
    software = CHARTS["lws"]
    controllers = (Controller(account="lws-controller-manager", makes=("StatefulSet",)),)

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values of the chart that differ from its defaults."""
        return {
            "replicaCount": self.settings.replicas,
            "resources": sized("50m", "256Mi"),
            # The chart sets no seccomp profile, and the level `restricted` requires one.
            "podSecurityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            **context.placement,
            "enablePrometheus": context.monitored,
        }


class Kuberay(ChartAddOn[batch.Kuberay]):
    """The operator. It has no webhook: the API server validates objects by their CRDs, and Kueue's webhook by its own
    rules."""

    name = "kuberay"
    software = CHARTS["kuberay-operator"]
    controllers = (Controller(account="kuberay-operator", makes=("Job", "Pod", "RayCluster")),)

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values of the chart that differ from its defaults."""
        gangs = next(
            (
                {"batchScheduler": {"name": name}}
                for name, kind in (("volcano", batch.Volcano), ("yunikorn", batch.Yunikorn))
                if context.addons.has(kind)
            ),
            {},
        )
        return {
            "replicas": self.settings.replicas,
            # 500 Ray pods need about 500 MB (the chart's values.yaml).
            "resources": uncapped("100m", f"{self.settings.memory_gib}Gi"),
            "metrics": {"serviceMonitor": {"enabled": context.monitored}},
            **context.placement,
            **gangs,
        }

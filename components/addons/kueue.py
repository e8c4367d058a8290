"""Kueue: queues with quotas, fair shares and preemption for jobs of every kind (kueue.sigs.k8s.io).

The queues belong to teams and are declared with them (`components.queues`). Here is the configuration of the manager
(`config.kueue.x-k8s.io/v1beta2`), as a pure function of the enabled add-ons.

It is decoded strictly: an unknown field keeps the manager from starting, so every key here is in its reference
(kueue.sigs.k8s.io, "Kueue Configuration v1beta2 API", v0.19).
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final

import yaml

from components.addons import multikueue
from components.base.addon import AddOnContext, AddOnFacts, ChartAddOn
from components.base.controllers import Controller
from components.base.placement import keeps_one, uncapped
from spec.catalog import gpus
from spec.catalog.software import CHARTS, SOFTWARE
from spec.pools import keys
from spec.settings.addons import Addons
from spec.settings.addons.batch import Kueue as Settings
from spec.teams.labels import TEAM

ALWAYS: Final = ("batch/job", "deployment", "pod", "statefulset")
"""Kinds that every cluster has. Deployments and StatefulSets serve models and run notebooks."""

_GATED: Final = "LeaderWorkerSet"  # is never suspended: Kueue holds its pods by a scheduling gate
FRAMEWORKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Job": "batch/job",
        **{kind: name for row in SOFTWARE.values() for kind, name in row.queued_kinds.items() if kind != _GATED},
    }
)
"""Framework by the kind of a workload that is created suspended: only if Kueue has it enabled does it start the
workload. KubeRay's kinds have one each; the one for RayClusters also keeps those of a RayJob or a RayService from being
queued a second time."""

NOT_COUNTED: Final = ("ephemeral-storage", "hugepages-", keys.EFA)
"""Resources that come with a node and have no quota. Without this list a job that requests one would stay pending
forever, because Kueue admits only resources that a quota covers."""


def frameworks(addons: Addons) -> tuple[str, ...]:
    """Kinds of jobs that are queued: the built-in ones and those of the enabled add-ons, sorted."""
    enabled = dict(addons.wanted())
    served = {
        name
        for row in SOFTWARE.values()
        if row.addon in enabled
        for kind, name in row.queued_kinds.items()
        # The training operator serves the kinds that its settings name.
        if kind in getattr(enabled[row.addon], "kinds", row.queued_kinds)
    }
    return tuple(sorted({*ALWAYS, *served}))


def configuration(
    settings: Settings, *, cluster: str, integrations: tuple[str, ...], claimed: Collection[str] = ()
) -> dict[str, Any]:
    """The whole configuration.

    Args:
        settings: Settings of the add-on.
        cluster: Name of the cluster, which marks the workloads that it creates on MultiKueue workers.
        integrations: Kinds of jobs that are queued.
        claimed: Extended resources that pools give by claims of devices.
    """
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        **_server(),
        # Only in team namespaces. There every job goes to the queue `default` unless it names another (feature
        # LocalQueueDefaulting, on by default); the platform's own pods are never suspended.
        "manageJobsWithoutQueueName": False,
        "managedJobsNamespaceSelector": {"matchExpressions": [{"key": TEAM, "operator": "Exists"}]},
        "integrations": {"frameworks": list(integrations)},
        "resources": {"excludeResourcePrefixes": list(NOT_COUNTED), **_claims(claimed)},
        "waitForPodsReady": _wait(settings),
        "objectRetentionPolicies": {"workloads": {"afterFinished": f"{settings.after_finished_hours}h"}},
        **(_FAIR if settings.fair_sharing else {}),
        **(_manager(settings, cluster) if settings.multi_kueue == "manager" else {}),
    }


def _claims(resources: Collection[str]) -> dict[str, Any]:
    """A claim counts as the GPUs of a request: one quota, however a pod gets them. Features KueueDRAIntegration and
    KueueDRAIntegrationExtendedResource, on by default in 0.19 (pkg/features/kube_features.go); of claims, those of
    templates with `exactly` and a count (pkg/dra/claims.go)."""
    mappings = [{"name": name, "deviceClassNames": [gpus.device_class(name)]} for name in sorted(resources)]
    return {"deviceClassMappings": mappings} if mappings else {}


_FAIR: Final = {
    # Its presence enables fair sharing. Of Kueue's two rules the stricter alone: with both, workloads of two queues
    # preempt each other without end (kueue#14543, open in 0.19.2; reproduced in tests/slipway/replay/test_circles.py).
    # A queue's own quota is reclaimed with either; what is lost is that a small job takes borrowed quota from a gang
    # which is all that its queue has borrowed.
    "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]}
}


def _server() -> dict[str, Any]:
    """Ports and leader election, as in the chart's default configuration, which this one replaces."""
    return {
        "health": {"healthProbeBindAddress": ":8081"},
        # Quota and usage per queue and flavor, which the dashboards show.
        "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "controller": {
            "groupKindConcurrency": {
                "ClusterQueue.kueue.x-k8s.io": 5,
                "Job.batch": 5,
                "LocalQueue.kueue.x-k8s.io": 5,
                "Pod": 5,
                "ResourceFlavor.kueue.x-k8s.io": 1,
                "Workload.kueue.x-k8s.io": 10,
            }
        },
        "clientConnection": {"qps": 300, "burst": 500},
    }


def _wait(settings: Settings) -> dict[str, Any]:
    """All-or-nothing scheduling: a job whose pods don't all become ready is evicted and requeued with backoff."""
    return {
        "timeout": f"{settings.wait_for_pods_ready_minutes}m",
        # A pod lost while the job runs must be replaced within this time, or the whole job is requeued.
        "recoveryTimeout": f"{max(5, settings.wait_for_pods_ready_minutes // 2)}m",
        # Other jobs are admitted meanwhile: pods on elastic pools wait for nodes, and blocking on one job would idle
        # all others.
        "blockAdmission": False,
        "requeuingStrategy": {
            "timestamp": "Eviction",
            "backoffLimitCount": settings.backoff_limit_count,
            "backoffBaseSeconds": 60,
            "backoffMaxSeconds": 3600,
        },
    }


def _manager(settings: Settings, cluster: str) -> dict[str, Any]:
    return {
        "multiKueue": {
            "origin": cluster,
            "gcInterval": "1m",
            "workerLostTimeout": f"{settings.worker_lost_timeout_minutes}m",
        }
    }


class Kueue(ChartAddOn[Settings]):
    """The manager and its webhooks; it issues their certificates itself."""

    name = "kueue"
    software = CHARTS["kueue"]
    controllers = (Controller(account="kueue-controller-manager", changes=(*FRAMEWORKS, "Pod")),)

    def boundaries(self, facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """On a worker: what its manager may do."""
        if self.settings.multi_kueue != "worker":
            return {}
        return multikueue.access(frameworks(facts.addons))

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values of the chart that differ from its defaults."""
        integrations = frameworks(context.addons)
        claimed = {name for pool in context.pools.values() for name in pool.claimed}
        configured = configuration(
            self.settings, cluster=context.cluster.name, integrations=integrations, claimed=claimed
        )
        return {
            "enablePrometheus": context.monitored,
            "controllerManager": {
                "replicas": self.settings.replicas,
                "manager": {"resources": uncapped("250m", f"{self.settings.memory_gib}Gi")},
                "podDisruptionBudget": {"enabled": keeps_one(self.settings.replicas)},
                **context.placement,
            },
            # The chart takes the whole configuration as one text: missing fields have Kueue's defaults, not its own.
            "managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(configured, sort_keys=True)},
        }

"""The configuration of Kueue's manager (`config.kueue.x-k8s.io/v1beta2`), as a pure function of the enabled add-ons.

It is decoded strictly: an unknown field keeps the manager from starting, so every key here is in its reference
(kueue.sigs.k8s.io, "Kueue Configuration v1beta2 API", v0.19).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from spec.pools import keys
from spec.settings.addons import Addons
from spec.settings.addons.base import AddonSettings
from spec.settings.addons.batch import Jobset, Kuberay, Kueue, LeaderWorkerSet, MpiOperator, Trainer

TEAM_LABEL: Final = "platform.slipway/team"
"""Label of team namespaces, the only ones in which Kueue manages workloads."""

ALWAYS: Final = ("batch/job", "deployment", "pod", "statefulset")
"""Kinds that every cluster has. Deployments and StatefulSets serve models and run notebooks."""

BY_ADDON: Final[Mapping[type[AddonSettings], str]] = MappingProxyType(
    {
        Jobset: "jobset.x-k8s.io/jobset",
        LeaderWorkerSet: "leaderworkerset.x-k8s.io/leaderworkerset",
        MpiOperator: "kubeflow.org/mpijob",
        Trainer: "trainer.kubeflow.org/trainjob",
    }
)
TRAINING_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "JAXJob": "kubeflow.org/jaxjob",
        "PaddleJob": "kubeflow.org/paddlejob",
        "PyTorchJob": "kubeflow.org/pytorchjob",
        "TFJob": "kubeflow.org/tfjob",
        "XGBoostJob": "kubeflow.org/xgboostjob",
    }
)
"""Kinds of the training operator that Kueue supports."""
RAY_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "RayCluster": "ray.io/raycluster",
        "RayJob": "ray.io/rayjob",
        "RayService": "ray.io/rayservice",
    }
)
"""Kinds of KubeRay, each with an integration of its own. The one for RayClusters also keeps those of a RayJob or a
RayService from being queued a second time."""
FRAMEWORKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Job": "batch/job",
        "JobSet": BY_ADDON[Jobset],
        "MPIJob": BY_ADDON[MpiOperator],
        "TrainJob": BY_ADDON[Trainer],
        **RAY_KINDS,
        **TRAINING_KINDS,
    }
)
"""Framework by the kind of a workload that is created suspended: only if Kueue has it enabled does it start the
workload."""

NOT_COUNTED: Final = ("ephemeral-storage", "hugepages-", keys.EFA)
"""Resources that come with a node and have no quota. Without this list a job that requests one would stay pending
forever, because Kueue admits only resources that a quota covers."""


def frameworks(addons: Addons) -> tuple[str, ...]:
    """Kinds of jobs that are queued: the built-in ones and those of the enabled add-ons, sorted."""
    names = {*ALWAYS, *(name for kind, name in BY_ADDON.items() if addons.has(kind))}
    if addons.has(Kuberay):
        names |= set(RAY_KINDS.values())
    operator = addons.training_operator
    if operator is not None:
        names |= {TRAINING_KINDS[kind] for kind in operator.kinds}
    return tuple(sorted(names))


def configuration(settings: Kueue, *, cluster: str, integrations: tuple[str, ...]) -> dict[str, Any]:
    """The whole configuration.

    Args:
        settings: Settings of the add-on.
        cluster: Name of the cluster, which marks the workloads that it creates on MultiKueue workers.
        integrations: Kinds of jobs that are queued.
    """
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        **_server(),
        # Only in team namespaces. There every job goes to the queue `default` unless it names another (feature
        # LocalQueueDefaulting, on by default); the platform's own pods are never suspended.
        "manageJobsWithoutQueueName": False,
        "managedJobsNamespaceSelector": {"matchExpressions": [{"key": TEAM_LABEL, "operator": "Exists"}]},
        "integrations": {"frameworks": list(integrations)},
        "resources": {"excludeResourcePrefixes": list(NOT_COUNTED)},
        "waitForPodsReady": _wait(settings),
        "objectRetentionPolicies": {"workloads": {"afterFinished": f"{settings.after_finished_hours}h"}},
        **(_FAIR if settings.fair_sharing else {}),
        **(_manager(settings, cluster) if settings.multi_kueue == "manager" else {}),
    }


_FAIR: Final = {
    # Its presence enables fair sharing. Both rules, the stricter first: kueue.sigs.k8s.io, "Preemption", "Fair
    # Sharing".
    "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}
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


def _wait(settings: Kueue) -> dict[str, Any]:
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


def _manager(settings: Kueue, cluster: str) -> dict[str, Any]:
    return {
        "multiKueue": {
            "origin": cluster,
            "gcInterval": "1m",
            "workerLostTimeout": f"{settings.worker_lost_timeout_minutes}m",
        }
    }

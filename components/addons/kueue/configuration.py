"""The configuration of Kueue's manager (`config.kueue.x-k8s.io/v1beta2`), as a pure function of what is on.

It is decoded strictly: a field that Kueue does not know keeps the manager from starting, so every key here is one of
its reference (kueue.sigs.k8s.io, "Kueue Configuration v1beta2 API", v0.19).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from spec.pools import keys
from spec.settings.addons import Addons
from spec.settings.addons.base import AddonSettings
from spec.settings.addons.batch import Jobset, Kueue, LeaderWorkerSet, Trainer

TEAM_LABEL: Final = "platform.slipway/team"
"""Label of the namespaces of teams, the only ones in which Kueue manages anything."""

ALWAYS: Final = ("batch/job", "deployment", "pod", "statefulset")
"""Kinds that every cluster has. Deployments and StatefulSets are how models are served and notebooks run."""

BY_ADDON: Final[Mapping[type[AddonSettings], str]] = MappingProxyType(
    {
        Jobset: "jobset.x-k8s.io/jobset",
        LeaderWorkerSet: "leaderworkerset.x-k8s.io/leaderworkerset",
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
"""Kinds of the training operator that Kueue knows. Its MPIJob (v1) is not among them: Kueue's `kubeflow.org/mpijob` is
that of the MPI Operator, v2beta1. The pods of an MPIJob v1 are queued one by one."""

NOT_COUNTED: Final = ("ephemeral-storage", "hugepages-", keys.EFA)
"""Resources that come with a node and that no quota is kept for; a job that asks for one would otherwise wait for
ever, because Kueue admits nothing that no quota covers."""


def frameworks(addons: Addons) -> tuple[str, ...]:
    """Kinds of jobs that are queued: those of the cluster itself and those of the add-ons that are on, sorted."""
    found = {*ALWAYS, *(name for kind, name in BY_ADDON.items() if addons.has(kind))}
    operator = addons.training_operator
    if operator is not None:
        found |= {TRAINING_KINDS[kind] for kind in operator.kinds if kind in TRAINING_KINDS}
    return tuple(sorted(found))


def configuration(settings: Kueue, *, cluster: str, integrations: tuple[str, ...]) -> dict[str, Any]:
    """The whole configuration.

    Args:
        settings: Settings of the add-on.
        cluster: Name of the cluster, by which a worker knows whose workloads it runs.
        integrations: Kinds of jobs that are queued.
    """
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        **_server(),
        # Only in the namespaces of teams. There every job goes to the queue `default` unless it names another (feature
        # LocalQueueDefaulting, on by default); the platform's own pods are never held back.
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
    # Its presence switches it on. Both rules, the stricter first: kueue.sigs.k8s.io, "Preemption", "Fair Sharing".
    "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}
}


def _server() -> dict[str, Any]:
    """Ports and leadership: the chart's own, which a configuration of our own replaces."""
    return {
        "health": {"healthProbeBindAddress": ":8081"},
        # Quotas and their use by queue and flavor: what the dashboards show.
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
    """All or nothing: a job whose pods do not all come gives its quota back and queues again, later each time."""
    return {
        "timeout": f"{settings.wait_for_pods_ready_minutes}m",
        # A pod that is lost while the job runs is replaced within this, or the whole job queues again.
        "recoveryTimeout": f"{max(5, settings.wait_for_pods_ready_minutes // 2)}m",
        # Others are admitted meanwhile: on elastic pools, pods wait for machines, and waiting for one job would idle
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

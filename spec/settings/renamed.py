"""Settings that were renamed, so that an old name is refused with the new one.

Settings that mirror a field of Kueue, Karpenter, EKS, EC2, FSx, RDS, KServe or Argo carry its name since 2026-11
(ADR 0055).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

RENAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "notices": "notifications",
        "network.flowLogs.traffic": "trafficType",
        "cluster.support": "supportType",
        "cluster.serviceCidr": "serviceIpv4Cidr",
        "cluster.endpoint.public": "publicAccess",
        "cluster.endpoint.publicCidrs": "publicAccessCidrs",
        "cluster.access.*.groups": "kubernetesGroups",
        "pools.*.repair": "nodeRepair",
        "pools.*.disruption.consolidate": "consolidationPolicy",
        "pools.*.disruption.after": "consolidateAfter",
        "pools.*.disruption.drainTimeout": "terminationGracePeriod",
        "pools.*.update.maxUnavailablePercent": "maxUnavailablePercentage",
        "storage.efs.infrequentAfterDays": "transitionToIaDays",
        "storage.lustre.deployment": "deploymentType",
        "storage.lustre.capacityGib": "storageCapacity",
        "storage.lustre.throughput": "perUnitStorageThroughput",
        "addons.kueue.podsReadyMinutes": "waitForPodsReadyMinutes",
        "addons.kueue.retries": "backoffLimitCount",
        "addons.kueue.keepFinishedHours": "afterFinishedHours",
        "addons.kueue.workerLostMinutes": "workerLostTimeoutMinutes",
        "addons.argoWorkflows.teamParallelism": "namespaceParallelism",
        "addons.kserve.mode": "defaultDeploymentMode",
        "addons.kserve.domain": "ingressDomain",
        "addons.mlflow.database.storageGib": "allocatedStorage",
        "addons.mlflow.database.maxStorageGib": "maxAllocatedStorage",
        "addons.mlflow.database.backupDays": "backupRetentionPeriod",
        "queues.strategy": "queueingStrategy",
        "queues.reclaim": "reclaimWithinCohort",
        "queues.preempt": "withinClusterQueue",
        "teams.*.gpus.*.nominal": "nominalQuota",
        "teams.*.gpus.*.borrow": "borrowingLimit",
        "teams.*.gpus.*.lend": "lendingLimit",
        "teams.*.cpus.*.nominal": "nominalQuota",
        "teams.*.cpus.*.borrow": "borrowingLimit",
        "teams.*.cpus.*.lend": "lendingLimit",
    }
)
"""New name of the last key, by the old path; `*` matches any name."""


def renamed(path: str) -> str | None:
    """New name of a setting's last key; None if the path is not an old one.

    Args:
        path: Path as the file spells it: `teams.vision.gpus.h100.nominal`.
    """
    parts = path.split(".")
    for old, new in RENAMED.items():
        wanted = old.split(".")
        if len(wanted) == len(parts) and all(one in ("*", part) for one, part in zip(wanted, parts, strict=True)):
            return new
    return None

"""The facts of a cluster and namespace that workloads need, as one plain value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pulumi

from components.addons.kserve.runtimes import NamedRuntime
from components.storage.volumes import CLAIMS
from spec.pools import PoolSpec
from spec.settings.addons import AddonSettings
from spec.settings.teams import PriorityName

PRIORITIES: Final = tuple(str(name) for name in PriorityName)
"""Priority classes of the platform, highest first. Each exists as PriorityClass (for preemption of pods on nodes) and
as WorkloadPriorityClass (for preemption of jobs in queues)."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A namespace on a platform, and what workloads in it can use.

    Attributes:
        pools: Pools by name.
        namespace: Namespace of a team.
        queue: LocalQueue of the namespace; None if jobs aren't queued.
        aliases: Other LocalQueues of the namespace, to the same quota.
        queued: Kinds that Kueue manages, as its frameworks; None if unknown: then it isn't checked.
        shares: What the team can use of each pool at the same time, in whole GPUs or, for CPU pools, vCPUs; None if
            unknown: then it isn't checked.
        priorities: Names of the priority classes that the team may use.
        claims: Existing volume claims by content.
        storage_class: StorageClass of ReadWriteOnce disks.
        classes: The platform's StorageClasses, with the CSI driver of each; None if unknown: then it isn't checked.
        service_account: Service account with the team's AWS permissions.
        open: Whether load balancers may reach pods of the namespace.
        labels: Labels of every object and pod: team, project, cost center.
        pod_security: Pod Security level that the namespace enforces.
        cluster: Name of the cluster and of its kubeconfig context; empty if unknown.
        region: AWS Region.
        addons: Installed add-ons; None if unknown: then it isn't checked.
        runtimes: The platform's serving runtimes by name; None if unknown.
        rolls_back: Whether the platform rolls canaries back (`kserve.canaryRollback`); None if unknown: then it isn't
            checked.
        by_topology: Names of the pools to which the queue admits only pods with an annotation of their topology; None
            if unknown: then it isn't checked.
        env: Environment variables of every container, such as the address of the team's tracking server.
        prices: Thousandths of a USD an hour of each device, by pool.
        job_usd: The most that one job of the team may cost, in USD; None without a bound.
        after: Dependencies, if the same program declares them: namespace, queue, volume claims.
    """

    pools: Mapping[str, PoolSpec]
    namespace: str
    queue: str | None = "default"
    aliases: tuple[str, ...] = ()
    queued: frozenset[str] | None = None
    shares: Mapping[str, int] | None = None
    priorities: tuple[str, ...] = PRIORITIES
    claims: Mapping[str, str] = field(default_factory=lambda: {name: name for name in CLAIMS})
    storage_class: str = "gp3"
    classes: Mapping[str, str] | None = None
    service_account: str = "workload"
    open: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)
    pod_security: str = "baseline"
    cluster: str = ""
    region: str = ""
    addons: frozenset[type[AddonSettings]] | None = None
    runtimes: Mapping[str, NamedRuntime] | None = None
    rolls_back: bool | None = None
    by_topology: frozenset[str] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    prices: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    job_usd: int | None = None
    after: Sequence[pulumi.Resource] = ()

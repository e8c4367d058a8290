"""Settings of the queues that all teams share; they apply if Kueue is installed."""

from typing import Literal

from pydantic import Field

from spec.settings.base import Model, Name, SecretName


class Worker(Model):
    """A worker cluster to which the manager dispatches workloads (MultiKueue)."""

    secret: SecretName
    """Secret in Kueue's namespace whose key `kubeconfig` gives the manager access to the worker. It is created outside
    the stack, because a working kubeconfig is a credential."""
    stack: Name | None = None
    """The worker's stack, if its file is beside this one: teams, namespaces, shares and remote pools are compared."""


class Queues(Model):
    """How teams share idle quota."""

    cohort: Name = "platform"
    """Cohort of all teams."""
    aliases: tuple[Name, ...] = ()
    """More LocalQueues of each namespace, beside `default` and to the same quota. Kueue's samples name `user-queue`."""
    queueing_strategy: Literal["BestEffortFIFO", "StrictFIFO"] = "BestEffortFIFO"
    """`StrictFIFO` admits no job before the oldest of its queue, however small it is."""
    reclaim_within_cohort: Literal["Any", "LowerPriority", "Never"] = "Any"
    """Which workloads on borrowed quota are preempted when its owner needs it."""
    within_cluster_queue: Literal["LowerPriority", "LowerOrNewerEqualPriority", "Never"] = "LowerPriority"
    """Which workloads of the same team are preempted for one of higher priority."""
    spot_first: bool = True
    """Try Spot pools before others. A team without a share of a Spot pool never uses it, and a job that names its pool
    stays on it."""
    pool_order: tuple[Name, ...] = ()
    """Pools to try first, in this order; the others follow by `spotFirst` and price. Use it for capacity of managed
    pools and with EFA: a Capacity Block, then on-demand nodes in another zone."""
    topology: bool = False
    """Place jobs by EC2's network topology on EFA pools with a fixed number of nodes. Kueue then admits only jobs to
    them whose pods have an annotation of their topology: components set it, YAML must."""
    workers: dict[Name, Worker] = Field(default_factory=dict)
    """Worker clusters by a name of your choice; only with `addons.kueue.multiKueue: manager`. A worker has the same
    teams in its own stack file, and needs no other setting."""
    remote_pools: tuple[Name, ...] = ()
    """Pools whose workloads are dispatched to workers, which have pools of the same names; all if empty."""

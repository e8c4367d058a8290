"""Settings of the queues that all teams share; they hold where Kueue is on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spec.settings.base import Model, Name

SecretName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
"""Name of a Secret (kubernetes.io, "Object Names and IDs", DNS subdomain names)."""


class Worker(Model):
    """A cluster to which a manager may send work (MultiKueue)."""

    secret: SecretName
    """Secret in Kueue's namespace whose key `kubeconfig` lets the manager into the worker. It is made outside the
    stack: a kubeconfig that works is a credential."""


class Queues(Model):
    """How teams share what one of them leaves idle."""

    cohort: Name = "platform"
    """Cohort that all teams are in."""
    queueing_strategy: Literal["BestEffortFIFO", "StrictFIFO"] = "BestEffortFIFO"
    """`StrictFIFO` lets nothing pass the oldest job of a queue, however small it is."""
    reclaim_within_cohort: Literal["Any", "LowerPriority", "Never"] = "Any"
    """Whose borrowed work is stopped when its owner asks for it back."""
    within_cluster_queue: Literal["LowerPriority", "LowerOrNewerEqualPriority", "Never"] = "LowerPriority"
    """Whose work of the same team is stopped for work of a higher priority."""
    spot_first: bool = True
    """Try spot pools before others. A team without a share of a spot pool never gets there, and a job that names its
    pool stays on it."""
    topology: bool = True
    """Place multi-node jobs close together on pools with EFA whose number of nodes is fixed."""
    workers: dict[Name, Worker] = Field(default_factory=dict)
    """Clusters that work is sent to, by a name of yours; only with `addons.kueue.multiKueue: manager`. A worker has the
    same teams in its own stack file, and needs nothing more."""
    remote_pools: tuple[Name, ...] = ()
    """Pools whose work goes to workers, which have pools of the same name; all where none is named."""

"""Settings of the queues that all teams share; they hold where Kueue is on."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from infra.config.base import Model, Name

SecretName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
"""Name of a Secret (kubernetes.io, "Object Names and IDs", DNS subdomain names)."""


class ClusterRole(StrEnum):
    """What this cluster is to others that share its teams."""

    MANAGER = "manager"
    """Takes the work in and hands it to workers."""
    WORKER = "worker"
    """Runs what a manager sends; it has the same teams, namespaces and queues and needs nothing more."""


class WorkerCluster(Model):
    """A cluster to which a manager may send work."""

    secret: SecretName
    """Secret in Kueue's namespace whose key `kubeconfig` lets the manager into the worker. It is made outside the
    stack: a kubeconfig that works is a credential."""


class MultiKueue(Model):
    """How several clusters share the same teams."""

    role: ClusterRole
    clusters: dict[Name, WorkerCluster] = Field(default_factory=dict)
    """Workers, by a name of yours; only with `role: manager`."""
    pools: tuple[Name, ...] = ()
    """Pools whose work goes to the workers; all where none is named. Only with `role: manager`."""


class Queues(Model):
    """How teams share what one of them leaves idle."""

    cohort: Name = "platform"
    """Cohort that all teams are in."""
    strategy: Literal["BestEffortFIFO", "StrictFIFO"] = "BestEffortFIFO"
    """`StrictFIFO` lets nothing pass the oldest job of a queue, however small it is."""
    fair_sharing: bool = True
    """Share what is idle by the teams' weights, instead of first come, first served."""
    reclaim: Literal["Any", "LowerPriority", "Never"] = "Any"
    """Whose borrowed work is stopped when its owner asks for it back."""
    preempt: Literal["LowerPriority", "LowerOrNewerEqualPriority", "Never"] = "LowerPriority"
    """Whose work of the same team is stopped for work of a higher priority."""
    spot_first: bool = True
    """Try spot pools before others, for teams that may use spot."""
    topology: bool = True
    """Place multi-node jobs close together on pools with EFA whose number of nodes is fixed."""
    multi_kueue: MultiKueue | None = None
    """Share the teams with other clusters."""

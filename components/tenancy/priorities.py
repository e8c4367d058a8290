"""Priorities of the platform: what goes first, and what may be stopped for it.

Each is there twice under one name. The PriorityClass orders pods for the scheduler; the WorkloadPriorityClass orders
what waits in Kueue's queues, where a job is stopped whole instead of pod by pod.

Jobs may not preempt pods (`preemptionPolicy: Never`): Kueue makes room for them before they start, by stopping whole
jobs, and a scheduler that evicts one worker of sixteen would stop fifteen others for nothing. Inference may: its pods
come and go one by one with the load, and what answers customers does not wait for a node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import pulumi

from components.base.kubernetes import declare
from components.base.outputs import ClusterOutputs
from spec.settings.teams import PriorityName


@dataclass(frozen=True, kw_only=True)
class Priority:
    """One priority.

    Attributes:
        value: The higher goes first. User values reach 1,000,000,000 (kubernetes.io, "Pod Priority and Preemption");
            steps of 1,000 leave room for others between them, and all of them are above 0, which a pod without a class
            has.
        preemption: Whether its pods may evict others.
        description: What it is for, as `kubectl get priorityclass` shows it.
    """

    value: int
    preemption: Literal["PreemptLowerPriority", "Never"]
    description: str


PRIORITIES: Final[Mapping[PriorityName, Priority]] = {
    PriorityName.PRODUCTION_INFERENCE: Priority(
        value=10_000,
        preemption="PreemptLowerPriority",
        description="Models that answer customers. Evicts what has a lower priority where no room is left.",
    ),
    PriorityName.PRODUCTION_TRAINING: Priority(
        value=8_000,
        preemption="Never",
        description="Training that a release waits for. Kueue stops lower jobs of the same team for it.",
    ),
    PriorityName.INTERACTIVE: Priority(
        value=5_000,
        preemption="Never",
        description="Notebooks and debugging: somebody waits for it, for hours and not for days.",
    ),
    PriorityName.EXPERIMENT: Priority(
        value=1_000,
        preemption="Never",
        description="Sweeps and trials: first to be stopped, so they write checkpoints.",
    ),
}
"""By name, highest first."""


def priority_class(name: PriorityName) -> dict[str, Any]:
    """The class of pods. None is the default: what says nothing is below all of them."""
    priority = PRIORITIES[name]
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": str(name)},
        "value": priority.value,
        "globalDefault": False,
        "preemptionPolicy": priority.preemption,
        "description": priority.description,
    }


def workload_priority_class(name: PriorityName) -> dict[str, Any]:
    """The class of queued work, for label `kueue.x-k8s.io/priority-class`."""
    priority = PRIORITIES[name]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": str(name)},
        "value": priority.value,
        "description": priority.description,
    }


@dataclass(frozen=True, kw_only=True)
class PrioritiesArgs:
    """Inputs of `Priorities`.

    Attributes:
        cluster: The cluster.
    """

    cluster: ClusterOutputs


class Priorities(pulumi.ComponentResource):
    """The PriorityClasses. Their values can't be changed in place, and a class that pods name is not replaced under
    them: Kubernetes keeps the number that a pod was made with."""

    PULUMI_TYPE: Final = "slipway:platform:Priorities"

    made: Mapping[PriorityName, pulumi.Resource]

    def __init__(self, name: str, args: PrioritiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        child = pulumi.ResourceOptions(
            parent=self, depends_on=list(args.cluster.access), deleted_with=args.cluster.resource
        )
        self.made = {each: declare(f"{name}-{each}", priority_class(each), child) for each in PriorityName}
        self.register_outputs({})

"""Priority classes of the platform.

Each exists twice with the same name. The PriorityClass is for the scheduler, which preempts pods; the
WorkloadPriorityClass is for Kueue's queues, where whole jobs are preempted.

Jobs can't preempt pods (`preemptionPolicy: Never`): Kueue frees quota for them before they start, by preempting whole
jobs, whereas a scheduler that evicts one worker of sixteen would stall the other fifteen. Inference can: its pods scale
one by one with the load, and user-facing serving shouldn't wait for a node.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from components.base.kubernetes import Objects
from components.base.operator import object_of
from spec.jobs import KUEUE_API
from spec.settings.teams import PriorityName


@dataclass(frozen=True, kw_only=True)
class Priority:
    """One priority."""

    value: int
    """Higher is more important. User values go up to 1,000,000,000 (kubernetes.io, "Pod Priority and Preemption");
    steps of 1,000 allow for others in between, and all are above 0, the value of a pod without a class."""
    preemption: Literal["PreemptLowerPriority", "Never"]  # whether its pods can preempt others
    description: str  # its purpose, shown by `kubectl describe priorityclass`


PRIORITIES: Final[Mapping[PriorityName, Priority]] = {
    PriorityName.PRODUCTION_INFERENCE: Priority(
        value=10_000,
        preemption="PreemptLowerPriority",
        description="User-facing model serving. Preempts pods of lower priority when no node has capacity.",
    ),
    PriorityName.PRODUCTION_TRAINING: Priority(
        value=8_000,
        preemption="Never",
        description="Training that a release waits for. Kueue preempts the same team's jobs of lower priority for it.",
    ),
    PriorityName.INTERACTIVE: Priority(
        value=5_000,
        preemption="Never",
        description="Notebooks and debugging: a user waits for it; sessions last hours, not days.",
    ),
    PriorityName.EXPERIMENT: Priority(
        value=1_000, preemption="Never", description="Sweeps and trials: preempted first, so they write checkpoints."
    ),
}
"""By name, highest first."""


def priority_class(name: PriorityName) -> dict[str, Any]:
    """The PriorityClass, for pods. None is the default: pods without a class are below all of them."""
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
    """The WorkloadPriorityClass, for the label `kueue.x-k8s.io/priority-class`."""
    priority = PRIORITIES[name]
    return object_of(
        KUEUE_API, "WorkloadPriorityClass", str(name), value=priority.value, description=priority.description
    )


class Priorities(Objects):
    """The PriorityClasses. Their values are immutable, and replacing a class doesn't affect existing pods: a pod keeps
    the value that it was created with."""

    PULUMI_TYPE = "slipway:platform:Priorities"

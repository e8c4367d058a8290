"""What a distributed training is, whichever controller runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from components.workloads.pods import Pod
from components.workloads.target import Target

Kind = Literal["TrainJob", "PyTorchJob", "MPIJob", "JobSet"]
MASTER_PORT: Final = 29400
"""Port at which the processes find each other; torchrun's own default."""


@dataclass(frozen=True, kw_only=True)
class Topology:
    """How close to each other the pods must be, by Kueue's topology-aware scheduling.

    Attributes:
        level: Label of nodes that all pods share: a level of the Topology of the pool's flavor.
        required: Wait until there is such a place; else take the closest that there is.
    """

    level: str = "topology.k8s.aws/network-node-layer-3"
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class DistributedTrainingArgs:
    """Inputs of a training on several nodes.

    Attributes:
        target: Where it runs.
        pod: What runs on each node. For MPIJob its command is what the launcher starts on all.
        nodes: Pods, each on a node of its own where it takes all its GPUs.
        processes: Processes of each pod; one a GPU where not given.
        kind: What runs it: Trainer (`TrainJob`), training operator (`PyTorchJob`, `MPIJob`) or JobSet alone.
        deadline_seconds: Time in all, restarts included.
        ttl_seconds: Time that the ended job is kept; a day where not given. Not with TrainJob, which has none.
        retries: Failures before it is given up; disruptions don't count for TrainJob and JobSet.
        topology: How close together the pods must be.
        priority: Priority class.
        suspend: Start suspended; the queue starts all pods at once, or none.
        nccl_debug: How much NCCL says.
    """

    target: Target
    pod: Pod
    nodes: int
    processes: int | None = None
    kind: Kind = "TrainJob"
    deadline_seconds: int | None = None
    ttl_seconds: int | None = None
    retries: int | None = 3
    topology: Topology | None = None
    priority: str = "production-training"
    suspend: bool = True
    nccl_debug: Literal["WARN", "INFO"] = "WARN"

    @property
    def processes_per_node(self) -> int:
        """Processes of each pod."""
        return self.processes or max(1, self.pod.resources.gpus)

"""Inputs of a distributed training, for every controller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from components.workloads.pods import Pod
from components.workloads.target import Target

Kind = Literal["TrainJob", "PyTorchJob", "MPIJob", "JobSet"]
MASTER_PORT: Final = 29400
"""Rendezvous port of the processes; torchrun's default."""


@dataclass(frozen=True, kw_only=True)
class Topology:
    """How close to each other the pods are placed, by Kueue's topology-aware scheduling.

    Attributes:
        level: Node label with the same value for all pods: a level of the Topology of the pool's flavor.
        required: Wait until such a placement is possible; otherwise it is only preferred.
    """

    level: str = "topology.k8s.aws/network-node-layer-3"
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class DistributedTrainingArgs:
    """Inputs of `DistributedTraining`.

    Attributes:
        target: The target platform and namespace.
        pod: The pod on each node. For MPIJob, the launcher starts its command on all of them.
        nodes: Number of pods; each has its own node if it requests all GPUs of one.
        processes: Processes per pod; by default one per GPU.
        kind: Controller: Trainer (`TrainJob`), training operator (`PyTorchJob`), MPI Operator (`MPIJob`) or only
            JobSet.
        deadline_seconds: Maximum total duration, including restarts.
        ttl_seconds: How long the finished job is kept; a day by default. Not for TrainJob, which has no TTL.
        retries: Failures before it fails; disruptions don't count for TrainJob and JobSet.
        topology: How close to each other the pods are placed.
        priority: Priority class.
        suspend: Create it suspended; the queue starts all pods together or none.
        nccl_debug: Log level of NCCL.
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
        """Processes per pod."""
        return self.processes or max(1, self.pod.resources.gpus)

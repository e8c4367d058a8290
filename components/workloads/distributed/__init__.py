"""Training on several nodes at once, all of them or none."""

from components.workloads.distributed.args import DistributedTrainingArgs, Kind, Topology
from components.workloads.distributed.training import DistributedTraining, distributed_training

__all__ = ["DistributedTraining", "DistributedTrainingArgs", "Kind", "Topology", "distributed_training"]

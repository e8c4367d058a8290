"""Training on several nodes, which start together or not at all."""

from components.workloads.distributed.args import DistributedTrainingArgs, Kind, Topology
from components.workloads.distributed.training import DistributedTraining, distributed_training

__all__ = ["DistributedTraining", "DistributedTrainingArgs", "Kind", "Topology", "distributed_training"]

"""Horovod on two nodes of four GPUs each."""

from __future__ import annotations

import pulumi

from components.workloads import (
    Claim,
    DistributedTraining,
    DistributedTrainingArgs,
    Pod,
    Resources,
    Target,
)
from infra.target import connect


def build(target: Target, opts: pulumi.ResourceOptions) -> DistributedTraining:
    """Declare the training: the launcher starts eight processes, one on each GPU."""
    args = DistributedTrainingArgs(
        target=target,
        kind="MPIJob",
        nodes=2,
        pod=Pod(
            # Built on mpioperator/base, with Horovod and its framework.
            image="111122223333.dkr.ecr.us-east-1.amazonaws.com/vision/horovod:0.28.1",
            command=("python", "train.py", "--data=/data", "--checkpoints=/checkpoints"),
            pools=("gpu",),
            resources=Resources(cpu="44", memory="160Gi", gpus=4),
            volumes={
                "data": Claim(claim="datasets", path="/data", read_only=True),
                "checkpoints": Claim(claim="checkpoints", path="/checkpoints", sub_path="resnet"),
            },
            shared_memory="32Gi",
        ),
        deadline_seconds=24 * 3600,
        retries=3,
        priority="experiment",
    )
    return DistributedTraining("resnet", args, opts)


if __name__ == "__main__":
    build(*connect())

"""Training on two nodes of eight H100s each."""

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
    """Declare the training: both nodes start together or not at all."""
    args = DistributedTrainingArgs(
        target=target,
        nodes=2,
        pod=Pod(
            image="444455556666.dkr.ecr.us-east-1.amazonaws.com/language/pretrain:2.1.0",
            command=("torchrun", "pretrain.py", "--data=/data", "--checkpoints=/checkpoints"),
            pools=("h100",),
            # Nearly everything allocatable on a p5.48xlarge: 8 GPUs, 32 EFA, 192 vCPUs, 2 TiB.
            resources=Resources(cpu="180", memory="1700Gi", gpus=8, efa=32),
            volumes={
                "data": Claim(claim="datasets", path="/data", read_only=True),
                # FSx for Lustre: both nodes write their shards of a checkpoint side by side.
                "checkpoints": Claim(claim="checkpoints", path="/checkpoints", sub_path="assistant-7b"),
            },
            shared_memory="256Gi",
            grace_seconds=120,
        ),
        deadline_seconds=7 * 86400,
        retries=5,
        priority="production-training",
    )
    return DistributedTraining("assistant-7b", args, opts)


if __name__ == "__main__":
    build(*connect())

"""One training job on one GPU."""

from __future__ import annotations

import pulumi

from components.workloads import Claim, Pod, Resources, Target, TrainingJob, TrainingJobArgs
from infra.target import connect


def build(target: Target, opts: pulumi.ResourceOptions) -> TrainingJob:
    """Declare the job."""
    args = TrainingJobArgs(
        target=target,
        pod=Pod(
            image="111122223333.dkr.ecr.us-east-1.amazonaws.com/language/train:1.4.0",
            command=("python", "train.py", "--data=/data", "--checkpoints=/checkpoints", "--resume=latest"),
            pools=("h100",),
            resources=Resources(cpu="14", memory="200Gi", gpus=1),
            volumes={
                "data": Claim(claim="datasets", path="/data", read_only=True),
                "checkpoints": Claim(claim="checkpoints", path="/checkpoints", sub_path="classifier"),
            },
            shared_memory="16Gi",
            grace_seconds=90,
        ),
        deadline_seconds=8 * 3600,
        retries=2,
        priority="experiment",
    )
    return TrainingJob("classifier", args, opts)


if __name__ == "__main__":
    build(*connect())

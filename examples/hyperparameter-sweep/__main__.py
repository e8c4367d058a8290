"""A sweep of twelve trials, each on a seventh of an A100."""

from __future__ import annotations

import pulumi

from components.workloads import Claim, Pod, Resources, Sweep, SweepArgs, Target, grid
from infra.target import connect


def build(target: Target, opts: pulumi.ResourceOptions) -> Sweep:
    """Declare the sweep: 3 x 2 x 2 trials."""
    args = SweepArgs(
        target=target,
        pod=Pod(
            image="111122223333.dkr.ecr.us-east-1.amazonaws.com/vision/detector:0.9.2",
            # The parameters of a trial are in the file TRIAL_FILE: {"depth": 18, "lr": 0.001, "warmup": true}.
            command=("python", "trial.py", "--results=/checkpoints"),
            pools=("a100",),
            resources=Resources(cpu="1", memory="16Gi", mig={"1g.5gb": 1}),
            volumes={
                "data": Claim(claim="datasets", path="/data", read_only=True),
                "results": Claim(claim="checkpoints", path="/checkpoints", sub_path="detector-sweep"),
            },
        ),
        trials=grid(lr=[1e-2, 1e-3, 1e-4], depth=[18, 50], warmup=[True, False]),
        at_once=4,
        deadline_seconds=6 * 3600,
        failed_trials=3,
    )
    return Sweep("detector", args, opts)


if __name__ == "__main__":
    build(*connect())

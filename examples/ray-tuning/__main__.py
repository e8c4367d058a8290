"""A Ray job with its own cluster: the head on a CPU node, workers on Spot GPUs."""

from __future__ import annotations

import pulumi

from components.workloads import Pod, RayJob, RayJobArgs, RayWorkers, Resources, Target
from infra.target import connect


def build(target: Target, opts: pulumi.ResourceOptions) -> RayJob:
    """Declare the job: head, workers and submitter start together or not at all."""
    image = "rayproject/ray:2.52.0-py312-gpu"
    worker = Pod(
        image=image,
        pools=("gpu-spot",),
        # Ray schedules on these: each trial gets a part of them. A third of the memory is the object store.
        resources=Resources(cpu="3", memory="12Gi", gpus=1),
        # A Spot node leaves two minutes after its notice.
        grace_seconds=90,
    )
    args = RayJobArgs(
        target=target,
        ray_version="2.52.0",
        head=Pod(image=image, pools=("cpu",), resources=Resources(cpu="2", memory="8Gi")),
        workers={"trials": RayWorkers(pod=worker, replicas=3)},
        entrypoint="python tune.py --storage s3://EXAMPLE-checkpoints/vision/tune",
        runtime_env={"working_dir": "s3://EXAMPLE-raw/vision/tune.zip"},
        deadline_seconds=4 * 3600,
        retries=2,
        priority="experiment",
    )
    return RayJob("tune", args, opts)


if __name__ == "__main__":
    build(*connect())

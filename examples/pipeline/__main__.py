"""A pipeline: data preparation on CPUs, training on a GPU, evaluation on a MIG slice, publishing on CPUs."""

from __future__ import annotations

import pulumi

from components.workloads import Claim, Pipeline, PipelineArgs, Pod, Resources, Step, Target
from infra.target import connect

IMAGE = "444455556666.dkr.ecr.us-east-1.amazonaws.com/vision/pipeline:3.0.1"
RUN = "/checkpoints/{{workflow.name}}"
SMALL = Resources(cpu="4", memory="16Gi")


def build(target: Target, opts: pulumi.ResourceOptions) -> Pipeline:
    """Declare the pipeline, scheduled for every Sunday at 02:00 UTC."""
    args = PipelineArgs(
        target=target,
        parameters={"epochs": "20"},
        steps={
            "prepare": Step(pod=_pod("prepare", ("cpu",), SMALL)),
            "train": Step(
                pod=_pod("train", ("gpu-spot",), Resources(cpu="12", memory="48Gi", gpus=1), shared_memory="8Gi"),
                after=("prepare",),
                retries=5,
            ),
            "evaluate": Step(
                pod=_pod("evaluate", ("a100",), Resources(cpu="3", memory="30Gi", mig={"2g.20gb": 1})),
                after=("train",),
            ),
            "publish": Step(pod=_pod("publish", ("cpu",), SMALL), after=("evaluate",)),
        },
        deadline_seconds=24 * 3600,
        schedule="0 2 * * 0",
        priority="production-training",
    )
    return Pipeline("detector-weekly", args, opts)


def _pod(step: str, pools: tuple[str, ...], resources: Resources, shared_memory: str | None = None) -> Pod:
    """The pod of a step: every step has the program and the team's volumes; each run has its own folder."""
    return Pod(
        image=IMAGE,
        command=("python", "-m", f"detector.{step}"),
        args=("--data=/data", f"--run={RUN}", "--epochs={{workflow.parameters.epochs}}"),
        pools=pools,
        resources=resources,
        volumes={
            "data": Claim(claim="datasets", path="/data", read_only=True),
            "checkpoints": Claim(claim="checkpoints", path="/checkpoints"),
        },
        shared_memory=shared_memory,
    )


if __name__ == "__main__":
    build(*connect())

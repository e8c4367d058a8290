"""A model server that scales with its load."""

from __future__ import annotations

import pulumi

from components.workloads import Autoscaling, ModelDeployment, ModelDeploymentArgs, Pod, Resources, Target
from infra.target import connect


def build(target: Target, opts: pulumi.ResourceOptions) -> ModelDeployment:
    """Declare the server: 2 to 20 replicas."""
    args = ModelDeploymentArgs(
        target=target,
        pod=Pod(
            image="vllm/vllm-openai:v0.24.0",
            command=("python3", "-m", "vllm.entrypoints.openai.api_server"),
            args=("--port=8000", "--model=/models", "--served-model-name=ranker"),
            pools=("a100",),
            resources=Resources(cpu="3", memory="40Gi", mig={"2g.20gb": 1}),
            shared_memory="4Gi",
            grace_seconds=60,
        ),
        # Address of the team's models: the bucket's name ends in a random suffix.
        model_uri=f"{pulumi.Config().require('models')}ranker/v12",
        model_size="30Gi",
        load_seconds=600,
        autoscaling=Autoscaling(min_replicas=2, max_replicas=20, gpu_percent=70, waiting=5),
    )
    return ModelDeployment("ranker", args, opts)


if __name__ == "__main__":
    build(*connect())

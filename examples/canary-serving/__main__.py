"""A model on a MIG slice, and a canary of its new version with 10 % of the requests."""

from __future__ import annotations

import pulumi

from components.workloads import Canary, ModelServer, ModelServerArgs, Pod, Resources, Target
from infra.target import connect


def build(target: Target, opts: pulumi.ResourceOptions) -> ModelServer:
    """Declare both versions and the traffic split between them."""
    # Address of the team's models: the bucket's name ends in a random suffix.
    models = f"{pulumi.Config().require('models')}captions"
    args = ModelServerArgs(
        target=target,
        runtime=Pod(
            image="vllm/vllm-openai:v0.24.0",
            command=("python3", "-m", "vllm.entrypoints.openai.api_server"),
            args=("--port=8080", "--model=/mnt/models", "--served-model-name={{.Name}}"),
            pools=("a100",),
            resources=Resources(cpu="4", memory="40Gi", mig={"2g.20gb": 1}),
            shared_memory="4Gi",
        ),
        model_format="vLLM",
        storage_uri=f"{models}/v3",
        replicas=3,
        canary=Canary(storage_uri=f"{models}/v4", percent=10),
        path="/v1/chat/completions",
        load_seconds=600,
    )
    return ModelServer("captions", args, opts)


if __name__ == "__main__":
    build(*connect())

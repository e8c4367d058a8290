"""Inputs of a model on KServe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from components.workloads.pods import Pod
from components.workloads.serving.scaling import Autoscaling
from components.workloads.target import Target


@dataclass(frozen=True, kw_only=True)
class Canary:
    """A canary: a new version beside the current one.

    Attributes:
        storage_uri: URI of the new version.
        percent: Percentage of the requests that it gets.
        replicas: Its number of replicas; with autoscaling the minimum. The maximum is then its percentage of
            `max_replicas`.
    """

    storage_uri: str
    percent: int
    replicas: int = 1


@dataclass(frozen=True, kw_only=True)
class ModelServerArgs:
    """Inputs of `ModelServer`.

    Attributes:
        target: The target platform and namespace.
        runtime: The server: a pod, or the name of one of the platform's runtimes (`vllm-a100-2g.20gb`). `{{.Name}}` in
            its arguments is the name of the service; the model is in `/mnt/models`.
        model_format: Model format: `vLLM`, `onnx`.
        storage_uri: URI of the model: `s3://bucket/folder`.
        replicas: Number of replicas without autoscaling.
        autoscaling: Limits and metrics of autoscaling; not with Knative, which scales by requests.
        canary: A new version beside this one.
        split: Keep the InferenceGraph even without a canary, so that the address of clients doesn't change.
        mode: Deployment mode of KServe. Knative splits traffic itself, between this and the last revision.
        port: Port of the server.
        health_path: Path that returns 200 once the model is loaded; a named runtime of a known platform has its own.
        load_seconds: Maximum time to load the model.
        priority: Priority class.
    """

    target: Target
    runtime: Pod | str
    model_format: str
    storage_uri: str
    replicas: int = 1
    autoscaling: Autoscaling | None = None
    canary: Canary | None = None
    split: bool = False
    mode: Literal["Standard", "Knative"] = "Standard"
    port: int = 8080
    health_path: str = "/health"
    load_seconds: int = 900
    priority: str = "production-inference"

"""Model servers of the runtimes: images, model formats, and command lines.

KServe's own runtimes (chart kserve-runtime-configs v0.20.0) use old images or `latest` and request no GPU; these are
pinned, with the command line of each server's documentation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

MODELS: Final = "/mnt/models"
"""Where KServe puts the model before the server starts."""
HTTP: Final = 8080


@dataclass(frozen=True, kw_only=True)
class ServerImage:
    """One kind of model server.

    Attributes:
        cpu: Image for CPUs; None if the server is of no use without a GPU.
        gpu: Image for GPUs.
        source: Where and when the tags were read.
        formats: Model formats with their versions.
        protocols: KServe protocols that it supports.
        command: Command; the image's default if empty.
        args: Arguments. `{{.Name}}` is the name of the InferenceService, filled in by KServe.
        metrics: Port and path of its metrics.
        health: Path that returns 200 once the model is loaded.
        waiting: Metric that counts waiting requests; None if it has none.
        parallel: Argument with which it uses that many GPUs for one model, with `{}` for the number; empty if it uses
            all GPUs that it sees; None if it uses only one.
        user: Numeric user ID, if the image doesn't set one.
        environment: Environment variables.
        shared_memory: Whether its processes share memory.
    """

    cpu: str | None
    gpu: str
    source: str
    formats: Mapping[str, Sequence[str]]
    protocols: Sequence[str]
    command: Sequence[str] = ()
    args: Sequence[str]
    metrics: tuple[int, str]
    health: str
    waiting: str | None = None
    parallel: str | None = None
    user: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    shared_memory: bool = False

    def container(self, image: str, resources: Mapping[str, Any], *, gpus: int = 1) -> dict[str, Any]:
        """The container `kserve-container`, without root and without capabilities."""
        several = [self.parallel.format(gpus)] if self.parallel and gpus > 1 else []
        security: dict[str, Any] = {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        if self.user is not None:
            security["runAsUser"] = self.user
        return {
            "name": "kserve-container",
            "image": image,
            **({"command": list(self.command)} if self.command else {}),
            "args": [*self.args, *several],
            "ports": [{"containerPort": HTTP, "protocol": "TCP"}],
            **({"env": [{"name": k, "value": v} for k, v in self.environment.items()]} if self.environment else {}),
            # Without one, KServe asks whether the port is open, which it may be while the model is still loading.
            "readinessProbe": {
                "httpGet": {"path": self.health, "port": HTTP},
                "periodSeconds": 5,
                "timeoutSeconds": 5,
            },
            "resources": dict(resources),
            "securityContext": security,
            **({"volumeMounts": [{"name": "shared-memory", "mountPath": "/dev/shm"}]} if self.shared_memory else {}),  # noqa: S108
        }


_TRITON: Final = "nvcr.io/nvidia/tritonserver:26.02-py3"
_HUB: Final = "hub.docker.com, read 2026-11"

SERVERS: Final[Mapping[str, ServerImage]] = {
    "triton": ServerImage(
        cpu=_TRITON,
        gpu=_TRITON,
        # The last release whose notes support the driver of EKS's images, R580: "575 or later" (CUDA 13.1.1).
        source="NVIDIA, Triton Inference Server Release Notes, 26.02",
        formats={"triton": ("2",), "tensorrt": ("10",), "onnx": ("1",)},
        protocols=("v2", "grpc-v2"),
        args=(
            "tritonserver",
            f"--model-store={MODELS}",
            "--grpc-port=9000",
            f"--http-port={HTTP}",
            "--allow-grpc=true",
            "--allow-http=true",
        ),
        metrics=(8002, "/metrics"),
        health="/v2/health/ready",
        # NVIDIA, Triton User Guide, "Metrics": requests that wait for a model's execution.
        waiting="nv_inference_pending_request_count",
        # It places instances of a model on all GPUs (Triton User Guide, "Instance Groups").
        parallel="",
        user=1000,
        shared_memory=True,
    ),
    "torchserve": ServerImage(
        cpu="pytorch/torchserve-kfs:0.12.0",
        gpu="pytorch/torchserve-kfs:0.12.0-gpu",
        # The last release (2024-09-30): the project is no longer maintained. For models that still need it.
        source=f"{_HUB}; github.com/pytorch/serve, README, 'Limited Maintenance'",
        formats={"pytorch": ("1", "2")},
        protocols=("v1", "v2", "grpc-v2"),
        args=(
            "torchserve",
            "--start",
            f"--model-store={MODELS}/model-store",
            f"--ts-config={MODELS}/config/config.properties",
        ),
        environment={"TS_SERVICE_ENVELOPE": "{{.Labels.serviceEnvelope}}"},
        metrics=(8082, "/metrics"),
        # Of KServe's wrapper in this image, like every server of KServe's Python SDK.
        health="/v2/health/ready",
        user=1000,
        shared_memory=True,
    ),
    "tensorflow": ServerImage(
        cpu="tensorflow/serving:2.19.1",
        gpu="tensorflow/serving:2.19.1-gpu",
        source=f"{_HUB}; pypi.org/project/tensorflow-serving-api-gpu 2.19.1",
        formats={"tensorflow": ("1", "2")},
        protocols=("v1", "grpc-v1"),
        command=("/usr/bin/tensorflow_model_server",),
        args=(
            "--model_name={{.Name}}",
            "--port=9000",
            f"--rest_api_port={HTTP}",
            f"--model_base_path={MODELS}",
            "--rest_api_timeout_in_ms=60000",
        ),
        metrics=(HTTP, "/metrics"),
        # Status of the model (tensorflow.org, "TensorFlow Serving RESTful API").
        health="/v1/models/{{.Name}}",
        user=1000,
    ),
    "huggingface": ServerImage(
        cpu="kserve/huggingfaceserver:v0.20.0",
        gpu="kserve/huggingfaceserver:v0.20.0-gpu",
        source=f"{_HUB}: same version as KServe",
        formats={"huggingface": ("1",)},
        protocols=("v1", "v2"),
        args=("--model_name={{.Name}}",),
        metrics=(HTTP, "/metrics"),
        health="/v2/health/ready",
        # Its backend is vLLM, whose arguments and metrics it has.
        waiting="vllm:num_requests_waiting",
        parallel="--tensor-parallel-size={}",
        shared_memory=True,
    ),
    "vllm": ServerImage(
        cpu=None,
        gpu="vllm/vllm-openai:v0.24.0",
        source=_HUB,
        formats={"vLLM": ("1",)},
        # The OpenAI API isn't one of KServe's protocols; v2 is the closest one that the CRD allows.
        protocols=("v2",),
        command=("python3", "-m", "vllm.entrypoints.openai.api_server"),
        args=(f"--port={HTTP}", f"--model={MODELS}", "--served-model-name={{.Name}}"),
        # The image's user is root; another user can't write to its cache.
        environment={"HOME": "/tmp", "XDG_CACHE_HOME": "/tmp"},  # noqa: S108
        metrics=(HTTP, "/metrics"),
        health="/health",
        waiting="vllm:num_requests_waiting",
        parallel="--tensor-parallel-size={}",
        user=1000,
        shared_memory=True,
    ),
}

"""Model serving: with KServe (`ModelServer`), or as a plain Deployment (`ModelDeployment`)."""

from components.addons.kserve.runtimes import VLLM_ERRORS, ErrorMetrics
from components.workloads.serving.deployment import ModelDeployment, ModelDeploymentArgs, model_deployment
from components.workloads.serving.kserve import Canary, ModelServer, ModelServerArgs, model_server
from components.workloads.serving.picker import Picker
from components.workloads.serving.scaling import Autoscaling

__all__ = [
    "VLLM_ERRORS",
    "Autoscaling",
    "Canary",
    "ErrorMetrics",
    "ModelDeployment",
    "ModelDeploymentArgs",
    "ModelServer",
    "ModelServerArgs",
    "Picker",
    "model_deployment",
    "model_server",
]

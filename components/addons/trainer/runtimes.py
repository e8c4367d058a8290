"""ClusterTrainingRuntimes of Kubeflow Trainer: defaults for TrainJobs.

`torch-distributed` runs on any node that the queue assigns. `torch-distributed-<pool>` uses whole nodes of one training
pool, with all GPUs and Elastic Fabric Adapters, and the shared memory that NCCL needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.pools import Role

NAME: Final = "torch-distributed"
IMAGE: Final = "pytorch/pytorch:2.7.1-cuda12.6-cudnn9-runtime"
"""The image of Trainer's own torch runtime (kubeflow/trainer, manifests/base/runtimes/torch_distributed.yaml, read
2026-11). CUDA 12.6 runs on the driver of the nodes, R580 (NVIDIA, "CUDA Compatibility")."""
STEP_LABEL: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
FRAMEWORK_LABEL: Final = "trainer.kubeflow.org/framework"


def runtimes(pools: Mapping[str, PoolSpec], *, image: str) -> dict[str, dict[str, Any]]:
    """Runtimes by name: the general one, and one for each training pool with whole GPUs."""
    fitting = {
        name: spec
        for name, spec in pools.items()
        if spec.role is Role.TRAINING and spec.resources.get(keys.GPU, 0) == spec.gpu_count > 0
    }
    return {
        NAME: _runtime(NAME, _pod(image)),
        **{f"{NAME}-{name}": _runtime(f"{NAME}-{name}", _pod_of(spec, image)) for name, spec in fitting.items()},
    }


def _runtime(name: str, pod: dict[str, Any]) -> dict[str, Any]:
    node = {
        "name": "node",
        "template": {
            "metadata": {"labels": {STEP_LABEL: "trainer"}},
            "spec": {"template": {"spec": pod}},
        },
    }
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name, "labels": {FRAMEWORK_LABEL: "torch"}},
        "spec": {
            # One process per GPU, or per CPU if there is none.
            "mlPolicy": {"numNodes": 1, "torch": {}},
            "template": {"spec": {"replicatedJobs": [node]}},
        },
    }


_CONFINED: Final = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""Privileges that training never needs are dropped. The user is that of the image: PyTorch's is root."""


def _pod(image: str) -> dict[str, Any]:
    return {
        "containers": [
            {
                "name": "node",
                "image": image,
                "securityContext": _CONFINED,
                "volumeMounts": [{"name": "shared-memory", "mountPath": "/dev/shm"}],  # noqa: S108
            }
        ],
        # Data loaders and NCCL share memory between processes; a container has only 64 MiB by default. It counts
        # against the container's memory limit.
        "volumes": [{"name": "shared-memory", "emptyDir": {"medium": "Memory"}}],
    }


def _pod_of(spec: PoolSpec, image: str) -> dict[str, Any]:
    pod = _pod(image)
    whole = {name: str(count) for name, count in spec.resources.items()}
    container = {**pod["containers"][0], "resources": {"requests": whole, "limits": whole}}
    if spec.efa_count:
        # libfabric finds the adapters itself, but must not silently fall back to TCP (AWS, "Get started with EFA and
        # NCCL").
        container["env"] = [{"name": "FI_PROVIDER", "value": "efa"}]
    return {
        **pod,
        "containers": [container],
        "nodeSelector": {keys.POOL: spec.name},
        "tolerations": [toleration.manifest for toleration in spec.tolerations],
    }

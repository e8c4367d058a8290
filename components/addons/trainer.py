"""Kubeflow Trainer v2: TrainJobs on the platform's training runtimes (trainer.kubeflow.org).

`torch-distributed` runs on any node that the queue assigns. `torch-distributed-<pool>` uses whole nodes of one training
pool, with all GPUs and Elastic Fabric Adapters, or of one CPU pool.

Each states CPU and memory: in a team namespace the LimitRange would fill in 0.25 vCPUs and 2 GiB
(`components.tenancy.namespace.DEFAULTS`), with which a training is killed while it loads. A lost node starts all of
them again and counts as no failure: by default Kubernetes replaces the one pod, whose processes the others don't take
back, and each pod that ends so counts against the six retries of the Job.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from components.base.addon import AddOnContext, ChartAddOn
from components.base.controllers import Controller
from components.base.operator import CONFINED
from components.base.placement import kept, sized
from spec.catalog.software import CHARTS
from spec.pools import keys
from spec.pools.allocatable import EFA_HUGEPAGES_MIB, HUGEPAGES, allocatable
from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, MEMORY, format_mebibytes, quantity
from spec.settings.addons.batch import Trainer as Settings
from spec.settings.pools import Role

RESTARTS: Final = 3  # restarts of a platform's runtime for failures of the program
RECLAIMED: Final[Mapping[str, Any]] = {
    # A job that fails because of a disruption restarts the set without counting as a failure: the job's pod failure
    # policy gives that reason (jobset.sigs.k8s.io, "Failure Policy", host maintenance; 0.12).
    "name": "reclaimed",
    "action": "RestartJobSetAndIgnoreMaxRestarts",
    "onJobFailureReasons": ["PodFailurePolicy"],
}
DISRUPTED: Final[Mapping[str, Any]] = {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}
"""Rule of a Job's `podFailurePolicy`, which the API server accepts only with pods that are never restarted."""


def failure_policy(restarts: int | None) -> dict[str, Any]:
    """`failurePolicy` of a JobSet."""
    return {"maxRestarts": restarts, "rules": [dict(RECLAIMED)]}


def job_failures() -> dict[str, Any]:
    """Fields of each Job of such a JobSet: its first failure is one of the set."""
    return {"backoffLimit": 0, "podFailurePolicy": {"rules": [dict(DISRUPTED)]}}


NAME: Final = "torch-distributed"
IMAGE: Final = "pytorch/pytorch:2.7.1-cuda12.6-cudnn9-runtime"
"""The image of Trainer's own torch runtime (kubeflow/trainer, manifests/base/runtimes/torch_distributed.yaml, read
2026-11). CUDA 12.6 runs on the driver of the nodes, R580 (NVIDIA, "CUDA Compatibility")."""
SMALL: Final = {CPU: "1", MEMORY: "4Gi"}
"""Resources of `torch-distributed` for a TrainJob without `resourcesPerNode`. With one vCPU Trainer starts one process:
without GPUs it starts one per vCPU (kubeflow/trainer v2.3.0, pkg/runtime/framework/plugins/torch/torch.go)."""
ANY_GPU: Final = {"key": keys.GPU, "operator": "Exists", "effect": "NoSchedule"}
"""Kueue assigns a GPU pool only to pods that tolerate this taint, and adds the tolerations of the pool's other taints
(`components.queues`)."""
STEP_LABEL: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
FRAMEWORK_LABEL: Final = "trainer.kubeflow.org/framework"


def runtimes(pools: Mapping[str, PoolSpec], *, image: str) -> dict[str, dict[str, Any]]:
    """Runtimes by name: the general one, one for each training pool with whole GPUs, and one for each CPU pool."""
    return {
        NAME: _runtime(NAME, _pod(image, SMALL, SMALL) | {"tolerations": [ANY_GPU]}, pools.values()),
        **{
            f"{NAME}-{name}": _runtime(f"{NAME}-{name}", _pod_of(spec, image), [spec])
            for name, spec in pools.items()
            if _trains(spec)
        },
    }


def _trains(spec: PoolSpec) -> bool:
    """Whether jobs use whole nodes of a pool."""
    if spec.gpu is None:
        return spec.role is Role.GENERAL
    return spec.role is Role.TRAINING and spec.resources.get(keys.GPU, 0) == spec.gpu_count


def _runtime(name: str, pod: dict[str, Any], pools: Iterable[PoolSpec]) -> dict[str, Any]:
    """A runtime whose pods may run on some pools."""
    template = {"metadata": {"annotations": kept(pools)}, "spec": {**pod, "restartPolicy": "Never"}}
    node = {
        "name": "node",
        "template": {"metadata": {"labels": {STEP_LABEL: "trainer"}}, "spec": {**job_failures(), "template": template}},
    }
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name, "labels": {FRAMEWORK_LABEL: "torch"}},
        "spec": {
            # One process per GPU, or per CPU if there is none.
            "mlPolicy": {"numNodes": 1, "torch": {}},
            "template": {"spec": {"failurePolicy": failure_policy(RESTARTS), "replicatedJobs": [node]}},
        },
    }


def _pod(image: str, requests: Mapping[str, str], limits: Mapping[str, str]) -> dict[str, Any]:
    return {
        "containers": [
            {
                "name": "node",
                "image": image,
                "resources": {"requests": dict(requests), "limits": dict(limits)},
                # Privileges that training never needs are dropped. The user is that of the image: PyTorch's is root.
                "securityContext": CONFINED,
                "volumeMounts": [{"name": "shared-memory", "mountPath": "/dev/shm"}],  # noqa: S108
            }
        ],
        # Data loaders and NCCL share memory between processes; a container has only 64 MiB by default. It counts
        # against the container's memory limit.
        "volumes": [{"name": "shared-memory", "emptyDir": {"medium": "Memory"}}],
    }


def _pod_of(spec: PoolSpec, image: str) -> dict[str, Any]:
    whole = whole_node(spec)
    pod = _pod(image, whole, whole)
    if spec.efa_count:
        # libfabric finds the adapters itself, but must not silently fall back to TCP (AWS, "Get started with EFA and
        # NCCL").
        pod["containers"][0]["env"] = [{"name": "FI_PROVIDER", "value": "efa"}]
    tolerations = [toleration.manifest for toleration in spec.tolerations]
    return {**pod, "nodeSelector": {keys.POOL: spec.name}, **({"tolerations": tolerations} if tolerations else {})}


def whole_node(spec: PoolSpec) -> dict[str, str]:
    """Everything that one pod can request on any node of a pool: the CPU and memory of its smallest type, and all
    devices. Huge pages are part of a node's memory."""
    nodes = allocatable(spec)
    pages = {HUGEPAGES: EFA_HUGEPAGES_MIB} if spec.efa_count else {}
    memory = min(node.memory_mib for node in nodes) - sum(pages.values())
    return {
        CPU: quantity(CPU, min(node.cpu_millis for node in nodes)),
        MEMORY: format_mebibytes(memory),
        **{name: format_mebibytes(amount) for name, amount in pages.items()},
        **{name: str(count) for name, count in spec.resources.items()},
    }


class Trainer(ChartAddOn[Settings]):
    """The controller and its webhook, and the runtimes."""

    name = "trainer"
    software = CHARTS["kubeflow-trainer"]
    controllers = (Controller(account="kubeflow-trainer-controller-manager", makes=("JobSet",)),)

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values of the chart that differ from its defaults.

        The chart's runtimes are disabled: a job that downloads kubectl from the internet would install them.
        """
        manager = {"replicas": self.settings.replicas, "resources": sized("50m", "256Mi"), **context.placement}
        return {"jobset": {"install": False}, "manager": manager}

    def objects(self, context: AddOnContext) -> dict[str, Mapping[str, Any]]:
        """A general runtime, and one for each training pool."""
        made = runtimes(context.pools, image=self.settings.image or IMAGE)
        return {f"runtime-{name}": manifest for name, manifest in made.items()}

"""A platform with a pool of every kind, and one valid workload of each kind on it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from components.addons.kserve.runtimes import named
from components.workloads import (
    Autoscaling,
    Canary,
    Claim,
    DistributedTrainingArgs,
    ModelDeploymentArgs,
    ModelServerArgs,
    NotebookArgs,
    Picker,
    PipelineArgs,
    Pod,
    RayClusterArgs,
    RayJobArgs,
    RayServiceArgs,
    RayWorkers,
    Resources,
    Staged,
    Step,
    SweepArgs,
    Topology,
    TrainingJobArgs,
    WorkloadManifests,
    distributed_training,
    grid,
    model_deployment,
    model_server,
    notebook,
    pipeline,
    ray_cluster,
    ray_job,
    ray_service,
    sweep,
    training_job,
)
from infra.target import target_of
from spec.pools import resolve_all
from spec.settings.platform import Platform
from tests.components.pools.samples import BLOCK, platform

POOLS: Final[Mapping[str, Mapping[str, Any]]] = {
    "cpu": {"preset": "cpu", "max": 4},
    "block": BLOCK,
    "slices": {"preset": "a100", "role": "inference", "mig": {"layout": "all-2g.10gb"}, "max": 2},
    "spot": {"preset": "gpu-spot", "max": 4},
    "shared": {"preset": "gpu-spot", "capacity": {"market": "on-demand"},
        "sharing": {"mode": "time-slicing", "replicas": 4}, "max": 2},
}  # fmt: skip
PLATFORM: Final[Platform] = platform(POOLS)
TARGET: Final = replace(
    target_of(PLATFORM, namespace="research"), addons=None, runtimes=None, rolls_back=None, queue="default", queued=None
)

CHECKPOINTS: Final = {"checkpoints": Claim(claim="checkpoints", path="/checkpoints")}
IMAGE: Final = "registry.example.com/research/train:1.2.3"
SPOT: Final = Pod(
    image=IMAGE,
    command=("python", "train.py"),
    pools=("spot",),
    resources=Resources(cpu="3", memory="12Gi", gpus=1),
    volumes=CHECKPOINTS,
)
STAGED: Final = replace(
    SPOT, volumes={**CHECKPOINTS, "images": Staged(uri="s3://raw/research/images", path="/data", size="80Gi")}
)
NODE: Final = Pod(
    image=IMAGE,
    command=("torchrun", "train.py"),
    pools=("block",),
    resources=Resources(cpu="180", memory="1700Gi", gpus=8, efa=32),
    volumes=CHECKPOINTS,
    shared_memory="256Gi",
)
SLICE: Final = Pod(
    image=IMAGE, command=("serve",), pools=("slices",), resources=Resources(cpu="3", memory="24Gi", mig={"2g.10gb": 1})
)
SHARE: Final = Pod(image=IMAGE, pools=("shared",), resources=Resources(cpu="3", memory="12Gi", gpus=1))
CPU: Final = Pod(image=IMAGE, command=("prepare",), pools=("cpu",), resources=Resources(cpu="4", memory="16Gi"))

TRAINING: Final = TrainingJobArgs(target=TARGET, pod=SPOT, deadline_seconds=3600)
SWEEP: Final = SweepArgs(
    target=TARGET, pod=SPOT, trials=grid(lr=[0.1, 0.01], depth=[2, 4]), at_once=2, deadline_seconds=3600
)
DISTRIBUTED: Final = DistributedTrainingArgs(
    target=TARGET, pod=NODE, nodes=2, topology=Topology(), deadline_seconds=86400
)
DEPLOYMENT: Final = ModelDeploymentArgs(target=TARGET, pod=SLICE, model_uri="s3://models/research/m", model_size="20Gi")
PICKED: Final = replace(DEPLOYMENT, metrics_port=8081, picker=Picker(pools=("cpu",)))
SERVER: Final = ModelServerArgs(
    target=TARGET,
    runtime=SLICE,
    model_format="vLLM",
    storage_uri="s3://models/research/v1",
    canary=Canary(storage_uri="s3://models/research/v2", percent=10),
)
NAMED: Final = replace(
    SERVER,
    target=replace(TARGET, runtimes=named(resolve_all(PLATFORM), ("vllm", "triton", "tensorflow"))),
    runtime="vllm-slices-2g.10gb",
    autoscaling=Autoscaling(max_replicas=8),
)
PIPELINE: Final = PipelineArgs(
    target=TARGET,
    steps={"prepare": Step(pod=CPU), "train": Step(pod=SPOT, after=("prepare",))},
    parameters={"epochs": "3"},
    deadline_seconds=3600,
    run="first",
    schedule="0 3 * * *",
)
NOTEBOOK: Final = NotebookArgs(target=TARGET, pod=SHARE)
RAY_IMAGE: Final = "rayproject/ray:2.52.0-py312-gpu"
HEAD: Final = Pod(image=RAY_IMAGE, pools=("cpu",), resources=Resources(cpu="2", memory="8Gi"))
RAY_WORKERS: Final = {
    "spot": RayWorkers(pod=replace(SPOT, image=RAY_IMAGE, command=(), volumes={}), replicas=3),
    "slices": RayWorkers(pod=replace(SLICE, image=RAY_IMAGE, command=())),
}
RAY_CLUSTER: Final = RayClusterArgs(target=TARGET, head=HEAD, workers=RAY_WORKERS, ray_version="2.52.0")
RAY_JOB: Final = RayJobArgs(
    target=TARGET,
    head=HEAD,
    workers=RAY_WORKERS,
    ray_version="2.52.0",
    entrypoint="python train.py",
    runtime_env={"env_vars": {"EPOCHS": "3"}},
    deadline_seconds=3600,
)
RAY_SERVICE: Final = RayServiceArgs(
    target=TARGET,
    head=HEAD,
    workers=RAY_WORKERS,
    ray_version="2.52.0",
    serve={"applications": [{"name": "chat", "import_path": "chat:app"}]},
)

GOOD: Final[Mapping[str, Callable[[], WorkloadManifests]]] = {
    "training-job": lambda: training_job("mnist", TRAINING),
    "on-failure": lambda: training_job("mnist", replace(TRAINING, restart="OnFailure", fatal_exit_codes=())),
    "staged": lambda: training_job("mnist", replace(TRAINING, pod=STAGED)),
    "mpi-job-staged": lambda: distributed_training(
        "llm", replace(DISTRIBUTED, kind="MPIJob", pod=replace(NODE, volumes=STAGED.volumes))
    ),
    "two-pools": lambda: training_job("mnist", replace(TRAINING, pod=replace(SPOT, pools=("spot", "shared")))),
    "sweep": lambda: sweep("grid", SWEEP),
    "train-job": lambda: distributed_training("llm", DISTRIBUTED),
    "pytorch-job": lambda: distributed_training("llm", replace(DISTRIBUTED, kind="PyTorchJob")),
    "tf-job": lambda: distributed_training("llm", replace(DISTRIBUTED, kind="TFJob")),
    "mpi-job": lambda: distributed_training("llm", replace(DISTRIBUTED, kind="MPIJob")),
    "job-set": lambda: distributed_training("llm", replace(DISTRIBUTED, kind="JobSet")),
    "deployment": lambda: model_deployment("chat", DEPLOYMENT),
    "deployment-picker": lambda: model_deployment("chat", PICKED),
    "model-server": lambda: model_server("chat", SERVER),
    "model-server-scaled": lambda: model_server(
        "chat", replace(SERVER, canary=None, split=True, autoscaling=DEPLOYMENT.autoscaling)
    ),
    "model-server-knative": lambda: model_server("chat", replace(SERVER, mode="Knative")),
    "model-server-named": lambda: model_server("chat", replace(SERVER, runtime="vllm-slices-2g.10gb", canary=None)),
    "model-server-named-scaled": lambda: model_server("chat", NAMED),
    "pipeline": lambda: pipeline("weekly", PIPELINE),
    "notebook": lambda: notebook("lab", NOTEBOOK),
    "ray-cluster": lambda: ray_cluster("lab", RAY_CLUSTER),
    "ray-job": lambda: ray_job("tune", RAY_JOB),
    "ray-service": lambda: ray_service("chat", RAY_SERVICE),
}
"""One workload of each kind and variant, by a name."""


def bodies(manifests: WorkloadManifests) -> dict[str, dict[str, Any]]:
    """Manifests by role."""
    return {role: dict(manifest.manifest) for role, manifest in manifests.items()}


def body(manifests: WorkloadManifests, role: str = "job") -> Any:
    """One manifest."""
    return bodies(manifests)[role]

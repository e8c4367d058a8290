"""The table: each kind of workload that a stack serves, as a typed component and as the YAML that a user would write.

A row's objects are small, so that all rows of a wave run beside one another within the quota of their teams.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import yaml

from components.workloads import (
    Autoscaling,
    Claim,
    DistributedTrainingArgs,
    ModelServerArgs,
    NotebookArgs,
    Pod,
    RayClusterArgs,
    RayWorkers,
    Resources,
    SweepArgs,
    Target,
    TrainingJobArgs,
    WorkloadManifests,
    distributed_training,
    grid,
    model_server,
    notebook,
    ray_cluster,
    sweep,
    training_job,
)
from components.workloads.distributed import Kind

TWINS: Final = Path(__file__).with_name("twins")
IMAGE: Final = "registry.example.com/training:1.0.0"
RAY: Final = "rayproject/ray:2.52.0-py312-gpu"
LOW: Final = "experiment"
"""Priority of every row, below that of what preempts it."""
HOUR: Final = 3600
Objects = list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One kind of workload on one stack."""

    name: str  # name of the row, of its twin's file and, with a suffix, of its objects
    stack: str  # the stack
    namespace: str  # namespace of a team
    typed: Callable[[Target, str], WorkloadManifests]  # the component's manifests
    subject: str  # kind of the object that the user watches
    pods: int  # pods that run at once
    pools: tuple[str, ...]  # pools of which they use the quota
    whole: tuple[str, ...] = ()  # forms of which the loss of one pod restarts all of them
    ends: str | None = ""  # part of the names of the pods with whose end it ends; None for a server, which is deleted
    wave: int = 0  # rows of one wave run at once; those of the next begin when these have gone
    apart: bool = False  # the YAML runs one wave after the component: both exceed the team's quota

    def component(self, target: Target) -> Objects:
        """Manifests of the component."""
        made = self.typed(target, f"{self.name}-typed").values()
        return [dict(each.manifest) for each in made]

    def twin(self) -> Objects:
        """Manifests of the file of the same name: the stack's own, where its pools or volumes ask for one."""
        own = TWINS / self.stack / f"{self.name}.yaml"
        path = own if own.exists() else TWINS / own.name
        return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def _pod(pool: str, cpu: str = "1", memory: str = "2Gi", **more: Any) -> Pod:
    resources = Resources(cpu=cpu, memory=memory, **more)
    return Pod(image=IMAGE, pools=(pool,), resources=resources, command=("python", "train.py"))


def _job(pod: Pod) -> Callable[[Target, str], WorkloadManifests]:
    return lambda target, name: training_job(
        name, TrainingJobArgs(target=target, pod=pod, deadline_seconds=HOUR, priority=LOW)
    )


def _sweep(pod: Pod) -> Callable[[Target, str], WorkloadManifests]:
    trials = grid(lr=[0.1, 0.01], depth=[2, 4])
    return lambda target, name: sweep(
        name, SweepArgs(target=target, pod=pod, trials=trials, at_once=2, deadline_seconds=HOUR, priority=LOW)
    )


def _nodes(
    kind: Kind, nodes: int, pod: Pod, processes: int | None = None
) -> Callable[[Target, str], WorkloadManifests]:
    return lambda target, name: distributed_training(
        name,
        DistributedTrainingArgs(
            target=target, pod=pod, nodes=nodes, kind=kind, processes=processes, deadline_seconds=HOUR, priority=LOW
        ),
    )


def _ray(head: Pod, worker: Pod) -> Callable[[Target, str], WorkloadManifests]:
    ours = [replace(each, image=RAY, command=()) for each in (head, worker)]
    return lambda target, name: ray_cluster(
        name,
        RayClusterArgs(
            target=target,
            head=ours[0],
            workers={"trials": RayWorkers(pod=ours[1], replicas=2)},
            ray_version="2.52.0",
            priority=LOW,
        ),
    )


def _model(runtime: str, scaling: Autoscaling | None = None) -> Callable[[Target, str], WorkloadManifests]:
    uri = "s3://models-example/vision/triton"
    return lambda target, name: model_server(
        name,
        ModelServerArgs(
            target=target, runtime=runtime, model_format="triton", storage_uri=uri, priority=LOW, autoscaling=scaling
        ),
    )


def _notebook(pod: Pod) -> Callable[[Target, str], WorkloadManifests]:
    server = replace(pod, command=())
    return lambda target, name: notebook(name, NotebookArgs(target=target, pod=server, priority=LOW))


_SLICE: Final = _pod("a100", mig={"1g.5gb": 1})
_CPU: Final = _pod("cpu")
_HOROVOD: Final = replace(_CPU, image="registry.example.com/mpi:1.0.0")
_H100: Final = _pod("h100", cpu="8", memory="100Gi", gpus=1)
_SHARE: Final = replace(
    _pod("gpu-spot", cpu="500m", gpus=1), volumes={"checkpoints": Claim(claim="checkpoints", path="/checkpoints")}
)

_ONE: Final = replace(_SHARE, resources=Resources(cpu="1", memory="2Gi", gpus=1))
_NODE: Final = replace(_pod("h100", cpu="96", memory="1000Gi", gpus=8, efa=32), shared_memory="64Gi")
_BY_LOAD: Final = Autoscaling(min_replicas=1, max_replicas=3, gpu_percent=None, waiting=5)


@dataclass(frozen=True, kw_only=True)
class _Stack:
    """What the rows of a stack are made of: namespaces of team vision, of its models and of team language; the pod of a
    job, one on Spot, one on a node of H100s; the runtime of a model; whether the YAML of several nodes runs apart."""

    name: str
    training: str
    serving: str
    language: str
    job: Pod
    spot: Pod
    node: Pod
    runtime: str
    apart: bool = False

    def row(self, name: str, typed: Callable[[Target, str], WorkloadManifests], subject: str, **more: Any) -> Row:
        usual = {"stack": self.name, "namespace": self.training, "pods": 1, "pools": ("cpu",)}
        return Row(name=name, typed=typed, subject=subject, **{**usual, **more})

    def model(self, name: str, scaling: Autoscaling | None = None) -> Row:
        more = {"namespace": self.serving, "pools": ("a100",), "ends": None}
        return self.row(name, _model(self.runtime, scaling), "InferenceService", **more)

    def rows(self) -> tuple[Row, ...]:
        node: dict[str, Any] = {"namespace": self.language, "pools": ("h100",), "whole": ("typed", "yaml")}
        mpi: dict[str, Any] = {"pods": 3, "ends": "launcher"}
        ray = _ray(_pod("cpu", memory="4Gi"), self.spot)
        return (
            self.row("job", _job(self.job), "Job", pools=self.job.pools),
            self.row("sweep", _sweep(self.job), "Job", pods=2, pools=self.job.pools),
            self.row("jobset", _nodes("JobSet", 2, _CPU), "JobSet", pods=2, whole=("typed",)),
            self.row("pytorchjob", _nodes("PyTorchJob", 2, _CPU), "PyTorchJob", pods=2),
            self.row("tfjob", _nodes("TFJob", 2, _CPU), "TFJob", pods=2, wave=1),
            self.row("mpijob", _nodes("MPIJob", 2, _CPU), "MPIJob", **mpi),
            self.row("horovod", _nodes("MPIJob", 2, _HOROVOD, processes=2), "MPIJob", wave=1, **mpi),
            self.row("trainjob-1", _nodes("TrainJob", 1, self.node), "TrainJob", **node),
            self.row(
                "trainjob-2", _nodes("TrainJob", 2, self.node), "TrainJob", pods=2, wave=1, apart=self.apart, **node
            ),
            self.row("raycluster", ray, "RayCluster", pods=3, pools=("cpu", "gpu-spot"), ends=None),
            self.model("model"),
            self.row("notebook", _notebook(self.spot), "Job", pools=("gpu-spot",)),
        )


_STACKS: Final = (
    # With both of Kubeflow's older operators.
    _Stack(
        name="dev", training="vision", serving="vision", language="language", job=_SLICE, spot=_SHARE, node=_H100,
        runtime="triton-a100-1g.5gb", apart=True,
    ),
    # With the same operators: whole nodes of its Capacity Block, Spot GPUs of their own, MIG in a managed group.
    _Stack(
        name="prod", training="vision-training", serving="vision-serving", language="language-training", job=_ONE,
        spot=_ONE, node=_NODE, runtime="triton-a100-2g.20gb",
    ),
)  # fmt: skip
DEV, PROD = (stack.rows() for stack in _STACKS)
SCALED: Final[Mapping[str, Row]] = {stack.name: stack.model("scaled", _BY_LOAD) for stack in _STACKS}
"""A model that scales by its load, by stack: one to three pods, one for five requests that wait."""
BY_STACK: Final[Mapping[str, tuple[Row, ...]]] = {"dev": DEV, "prod": PROD}
"""All rows of a stack."""

"""Training on one GPU, a sweep, training on two nodes, a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from components.addons.kueue.configuration import FRAMEWORKS
from components.addons.trainer.runtimes import IMAGE
from components.workloads import (
    Claim,
    DistributedTrainingArgs,
    Files,
    NotebookArgs,
    Pod,
    Resources,
    SweepArgs,
    TrainingJobArgs,
    WorkloadManifest,
    WorkloadManifests,
    distributed_training,
    grid,
    notebook,
    sweep,
    training_job,
)
from components.workloads.metadata import metadata
from slipway.quickstarts.request import Attempt, Request
from slipway.quickstarts.units import Unit, units
from spec.settings.pools import Role

JUPYTER: Final = "quay.io/jupyter/pytorch-notebook:cuda12-python-3.12.11"
"""With JupyterLab and PyTorch, the image of examples/notebook."""
HOUR: Final = 3600
NODES: Final = 2
_CODE: Final = Path(__file__).with_name("code")
_FOLDER: Final = "/code"


def training_attempts(request: Request) -> Iterator[Attempt]:
    """A Job on one GPU or MIG instance, else on a share of a GPU, whose memory the pods of the others use too."""
    having = [each for each in units(request.target) if each.device]
    for unit in sorted(having, key=lambda each: each.pool.sharing is not None):
        yield _attempt(unit, partial(_training, request, unit))


def sweep_attempts(request: Request) -> Iterator[Attempt]:
    """Trials on MIG instances, else on GPUs."""
    for unit in sorted((each for each in units(request.target) if each.device), key=lambda each: not each.mig):
        yield _attempt(unit, partial(_sweep, request, unit))


def nodes_attempts(request: Request) -> Iterator[Attempt]:
    """Two whole nodes of a training pool, of another pool of whole GPUs, or of CPUs.

    NCCL doesn't support communication between MIG instances, and refuses two processes on one GPU, which shares of a
    GPU may be.
    """
    whole = [each for each in units(request.target) if not each.mig and each.pool.sharing is None]
    for unit in sorted(whole, key=lambda each: (each.device is None, each.pool.role is not Role.TRAINING)):
        yield _attempt(unit, partial(_two_nodes, request, unit))


def notebook_attempts(request: Request) -> Iterator[Attempt]:
    """A session on a share of a GPU, else on a MIG instance or a GPU."""
    having = [each for each in units(request.target) if each.device]
    for unit in sorted(having, key=lambda each: each.pool.sharing is None):
        yield _attempt(unit, partial(_notebook, request, unit))


def _attempt(unit: Unit, build: partial[WorkloadManifests]) -> Attempt:
    return Attempt(place=f"pool {unit.pool.name}", pool=unit.pool.name, build=build)


def _training(request: Request, unit: Unit) -> WorkloadManifests:
    args = TrainingJobArgs(
        target=request.target,
        pod=_pod(request, unit, unit.resources(), ("python", f"{_FOLDER}/train.py")),
        deadline_seconds=HOUR,
        priority=request.priority("experiment"),
        suspend=_queued(request, "Job"),
    )
    return {**_code(request, "train.py", "train.py"), **training_job(request.name, args)}


def _sweep(request: Request, unit: Unit) -> WorkloadManifests:
    args = SweepArgs(
        target=request.target,
        pod=_pod(request, unit, unit.resources(), ("python", f"{_FOLDER}/trial.py")),
        trials=grid(learning_rate=[1e-2, 1e-3, 1e-4], width=[128, 512]),
        at_once=NODES,
        deadline_seconds=2 * HOUR,
        priority=request.priority("experiment"),
        suspend=_queued(request, "Job"),
    )
    return {**_code(request, "trial.py", "trial.py"), **sweep(request.name, args)}


def _two_nodes(request: Request, unit: Unit) -> WorkloadManifests:
    resources = unit.node() if unit.device else unit.resources()
    shared = f"{8 * resources.gpus}Gi" if resources.gpus > 1 else None
    args = DistributedTrainingArgs(
        target=request.target,
        pod=_pod(request, unit, resources, ("torchrun", f"{_FOLDER}/train.py"), shared_memory=shared),
        nodes=NODES,
        deadline_seconds=HOUR,
        priority=request.priority("production-training"),
        suspend=_queued(request, "TrainJob"),
    )
    return {**_code(request, "train.py", "train_nodes.py"), **distributed_training(request.name, args)}


def _notebook(request: Request, unit: Unit) -> WorkloadManifests:
    args = NotebookArgs(
        target=request.target,
        pod=Pod(
            image=JUPYTER,
            pools=(unit.pool.name,),
            resources=unit.resources(),
            volumes={
                "data": Claim(claim="raw", path="/data", read_only=True),
                "checkpoints": Claim(claim="checkpoints", path="/checkpoints"),
            },
        ),
        priority=request.priority("interactive"),
        suspend=_queued(request, "Job"),
    )
    return notebook(request.name, args)


def _queued(request: Request, kind: str) -> bool:
    """Whether Kueue starts this kind; without a queue it must not be created suspended."""
    queued = request.target.queued
    return request.target.queue is not None and queued is not None and FRAMEWORKS[kind] in queued


def _pod(
    request: Request, unit: Unit, resources: Resources, command: tuple[str, ...], shared_memory: str | None = None
) -> Pod:
    return Pod(
        image=IMAGE,
        command=command,
        pools=(unit.pool.name,),
        resources=resources,
        volumes={
            "code": Files(config_map=f"{request.name}-code", path=_FOLDER),
            "data": Claim(claim="raw", path="/data", read_only=True),
            "checkpoints": Claim(claim="checkpoints", path="/checkpoints", sub_path=request.name),
        },
        shared_memory=shared_memory,
        grace_seconds=90,
    )


def _code(request: Request, file: str, source: str) -> WorkloadManifests:
    """The ConfigMap of a program, which a reader replaces by an image of their own later."""
    manifest: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(f"{request.name}-code", request.target),
        "data": {file: (_CODE / source).read_text(encoding="utf-8")},
    }
    return {"code": WorkloadManifest(manifest)}

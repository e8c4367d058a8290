"""Training on one GPU, a sweep, training on two nodes, a notebook."""

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Final

from components.addons.trainer import IMAGE
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
from slipway.quickstarts.request import Attempt, QuickstartRequest
from slipway.quickstarts.units import Unit, units, with_gpu

JUPYTER: Final = "quay.io/jupyter/pytorch-notebook:cuda12-python-3.12.11"
"""With JupyterLab and PyTorch, the image of examples/notebook."""
HOUR: Final = 3600
NODES: Final = 2
AT_ONCE: Final = 2  # trials of a sweep that run at the same time
_CODE: Final = Path(__file__).with_name("code")
_FOLDER: Final = "/code"


def training_attempts(request: QuickstartRequest) -> Iterator[Attempt]:
    """A Job on one GPU, MIG instance or share of a GPU."""
    for unit in with_gpu(request.target, request.platform):
        yield _attempt(unit, partial(_training, request, unit))


def sweep_attempts(request: QuickstartRequest) -> Iterator[Attempt]:
    """Trials on GPUs, MIG instances or shares of a GPU."""
    for unit in with_gpu(request.target, request.platform, AT_ONCE):
        yield _attempt(unit, partial(_sweep, request, unit), nodes=unit.nodes(AT_ONCE))


def nodes_attempts(request: QuickstartRequest) -> Iterator[Attempt]:
    """Two whole nodes of GPUs, else of CPUs.

    NCCL doesn't support communication between MIG instances, and refuses two processes on one GPU, which shares of a
    GPU may be.
    """
    found = units(request.target, request.platform)
    whole = [each for each in found if not each.mig and each.pool.sharing is None]

    def order(unit: Unit) -> tuple[bool, Decimal, str]:
        return unit.device is None, unit.node(_whole(unit)).added(NODES), unit.pool.name

    for unit in sorted(whole, key=order):
        yield _attempt(unit, partial(_two_nodes, request, unit), _whole(unit), NODES)


def notebook_attempts(request: QuickstartRequest) -> Iterator[Attempt]:
    """A session on a share of a GPU, a MIG instance or a GPU."""
    for unit in with_gpu(request.target, request.platform):
        yield _attempt(unit, partial(_notebook, request, unit))


def _attempt(
    unit: Unit, build: partial[WorkloadManifests], resources: Resources | None = None, nodes: int = 1
) -> Attempt:
    node = unit.node(resources or unit.resources())
    return Attempt(place=f"pool {unit.pool.name}", pool=unit.pool.name, build=build, node=node, nodes=nodes)


def _whole(unit: Unit) -> Resources:
    return unit.whole() if unit.device else unit.resources()


def _training(request: QuickstartRequest, unit: Unit) -> WorkloadManifests:
    args = TrainingJobArgs(
        target=request.target,
        pod=_pod(request, unit, unit.resources(), ("python", f"{_FOLDER}/train.py")),
        deadline_seconds=HOUR,
        priority=request.priority("experiment"),
        suspend=request.queued("Job"),
    )
    return {**_code(request, "train.py", "train.py"), **training_job(request.name, args)}


def _sweep(request: QuickstartRequest, unit: Unit) -> WorkloadManifests:
    args = SweepArgs(
        target=request.target,
        pod=_pod(request, unit, unit.resources(), ("python", f"{_FOLDER}/trial.py")),
        trials=grid(learning_rate=[1e-2, 1e-3, 1e-4], width=[128, 512]),
        at_once=AT_ONCE,
        deadline_seconds=2 * HOUR,
        priority=request.priority("experiment"),
        suspend=request.queued("Job"),
    )
    return {**_code(request, "trial.py", "trial.py"), **sweep(request.name, args)}


def _two_nodes(request: QuickstartRequest, unit: Unit) -> WorkloadManifests:
    resources = _whole(unit)
    shared = f"{8 * resources.gpus}Gi" if resources.gpus > 1 else None
    args = DistributedTrainingArgs(
        target=request.target,
        pod=_pod(request, unit, resources, ("torchrun", f"{_FOLDER}/train.py"), shared_memory=shared),
        nodes=NODES,
        deadline_seconds=HOUR,
        priority=request.priority("production-training"),
        suspend=request.queued("TrainJob"),
    )
    return {**_code(request, "train.py", "train_nodes.py"), **distributed_training(request.name, args)}


def _notebook(request: QuickstartRequest, unit: Unit) -> WorkloadManifests:
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
        suspend=request.queued("Job"),
    )
    return notebook(request.name, args)


def _pod(
    request: QuickstartRequest,
    unit: Unit,
    resources: Resources,
    command: tuple[str, ...],
    shared_memory: str | None = None,
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


def _code(request: QuickstartRequest, file: str, source: str) -> WorkloadManifests:
    """The ConfigMap of a program, which a reader replaces by an image of their own later."""
    manifest: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(f"{request.name}-code", request.target),
        "data": {file: (_CODE / source).read_text(encoding="utf-8")},
    }
    return {"code": WorkloadManifest(manifest)}

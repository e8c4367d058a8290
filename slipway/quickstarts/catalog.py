"""The quickstarts by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from slipway.quickstarts import jobs
from slipway.quickstarts.request import Attempt, Request
from slipway.quickstarts.serving import Model, serving_attempts


@dataclass(frozen=True, kw_only=True)
class Quickstart:
    """One quickstart.

    Attributes:
        summary: What it is, for a list.
        purposes: Purposes of the namespaces that it may run in, the preferred one first.
        attempts: Its workload on each pool of the team, in order of preference.
        reads_models: Whether it names the address of the team's models.
    """

    summary: str
    purposes: tuple[str, ...]
    attempts: Callable[[Request], Iterator[Attempt]]
    reads_models: bool = False


_TRAINING: Final = ("training", "general")
_SERVING: Final = ("serving", "general")

QUICKSTARTS: Final[Mapping[str, Quickstart]] = {
    "training-job": Quickstart(
        summary="a training Job on one GPU, with checkpoints", purposes=_TRAINING, attempts=jobs.training_attempts
    ),
    "sweep": Quickstart(
        summary="six trials with different parameters, two at a time", purposes=_TRAINING, attempts=jobs.sweep_attempts
    ),
    "two-nodes": Quickstart(
        summary="a TrainJob on two whole nodes with torchrun", purposes=_TRAINING, attempts=jobs.nodes_attempts
    ),
    "notebook": Quickstart(
        summary="JupyterLab on a GPU; the session ends when idle",
        purposes=("interactive", *_TRAINING),
        attempts=jobs.notebook_attempts,
    ),
    "vllm": Quickstart(
        summary="a language model as an InferenceService on vLLM",
        purposes=_SERVING,
        attempts=partial(serving_attempts, Model(server="vllm", format="vLLM", folder="qwen2.5-0.5b-instruct")),
        reads_models=True,
    ),
    "triton": Quickstart(
        summary="a model repository as an InferenceService on Triton",
        purposes=_SERVING,
        attempts=partial(serving_attempts, Model(server="triton", format="triton", folder="triton")),
        reads_models=True,
    ),
}

"""The quickstarts by name, and on which pool each fits."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from components.workloads import WorkloadManifests, WorkloadRefused
from slipway.quickstarts import jobs
from slipway.quickstarts.request import Attempt, QuickstartRequest
from slipway.quickstarts.serving import Model, serving_attempts
from slipway.quickstarts.units import lines
from spec.errors import EXIT_REFUSED, SlipwayError, refuse

# The quickstarts by name.


@dataclass(frozen=True, kw_only=True)
class Quickstart:
    """One quickstart."""

    summary: str  # what it is, for a list
    purposes: tuple[str, ...]  # purposes of the namespaces that it may run in, the preferred one first
    attempts: Callable[[QuickstartRequest], Iterator[Attempt]]
    """Its workload on each pool of the team, in order of preference."""
    serves: bool = False
    """Whether it is a model server, which ends by itself, or is kept and names the address of its model."""


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
        summary="a language model on vLLM for some hours, or as an InferenceService",
        purposes=_SERVING,
        attempts=partial(serving_attempts, Model(server="vllm", format="vLLM", folder="qwen2.5-0.5b-instruct")),
        serves=True,
    ),
    "triton": Quickstart(
        summary="a model repository on Triton for some hours, or as an InferenceService",
        purposes=_SERVING,
        attempts=partial(serving_attempts, Model(server="triton", format="triton", folder="triton")),
        serves=True,
    ),
}


# Chooses the pool: the first on which the workload has no problem.


@dataclass(frozen=True)
class Chosen:
    """The objects of a quickstart."""

    place: str  # the pool or runtime, for the reader
    manifests: WorkloadManifests  # the objects by role
    costs: tuple[str, ...]  # what starts, and what that costs, for the reader


def choose(quickstart: str, request: QuickstartRequest, pool: str | None = None) -> Chosen:
    """The objects of a quickstart on the pool that is preferred, or on a given one."""
    attempts = list(QUICKSTARTS[quickstart].attempts(request))
    wanted = [one for one in attempts if pool in (None, one.pool)]
    if pool is not None and not wanted:
        known = ", ".join(dict.fromkeys(one.pool for one in attempts)) or "none"
        refuse(
            f"--pool: {quickstart} must run on one of the team's pools for it (given: {pool!r}). There are: {known}."
        )
    problems = []
    for one in wanted:
        try:
            manifests = one.build()
            return Chosen(one.place, manifests, tuple(lines(one, manifests)))
        except WorkloadRefused as error:
            problems.append(f"  - {one.place}: {'; '.join(str(each) for each in error.problems)}")
    text = "\n".join(problems) or "  - the team has no share of a pool for it: add one to the team in the stack file"
    msg = f"{quickstart} runs on no pool of the namespace {request.target.namespace}:\n{text}"
    raise SlipwayError(msg, EXIT_REFUSED)

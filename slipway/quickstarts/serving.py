"""Models on the platform's own serving runtimes: a language model on vLLM, a model repository on Triton."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from components.workloads import ModelServerArgs, WorkloadManifests, model_server
from slipway.quickstarts.request import Attempt, Request
from slipway.quickstarts.units import units


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model, and the server for it.

    Attributes:
        server: Kind of the runtime: `vllm`.
        format: Model format.
        folder: Folder below the team's prefix of the bucket `models`.
    """

    server: str
    format: str
    folder: str


def serving_attempts(model: Model, request: Request) -> Iterator[Attempt]:
    """The model on each runtime of its server on one GPU or MIG instance of the team's pools, the lowest-priced first.

    Shares of a GPU come last: a server fills the memory that the pods of the others need. The runtime for CPUs, if the
    server has one, is the last resort.
    """
    prices = {unit.pool.name: unit.price for unit in units(request.target)}
    runtimes = {
        name: runtime
        for name, runtime in (request.target.runtimes or {}).items()
        if name == model.server or name.startswith(f"{model.server}-")
    }

    def order(name: str) -> tuple[int, Decimal, str]:
        place = runtimes[name].place
        if place is None:
            return 2, Decimal(0), name
        return int(place.spec.sharing is not None), prices[place.spec.name], name

    usable = [
        name
        for name, runtime in runtimes.items()
        if runtime.place is None or (runtime.place.count == 1 and runtime.place.spec.name in prices)
    ]
    for name in sorted(usable, key=order):
        place = runtimes[name].place
        pool = place.spec.name if place else "cpu"
        yield Attempt(place=f"runtime {name}", pool=pool, build=partial(_serve, request, model, name))


def _serve(request: Request, model: Model, runtime: str) -> WorkloadManifests:
    args = ModelServerArgs(
        target=request.target,
        runtime=runtime,
        model_format=model.format,
        storage_uri=f"{request.models}{model.folder}",
        priority=request.priority("production-inference"),
    )
    return model_server(request.name, args)

"""A language model on vLLM, a model repository on Triton: a session that ends by itself, or an InferenceService.

The session is a Job, as a notebook's is: its deadline ends it, and with its pod the node that Karpenter started.
Nothing that runs on the platform would end an InferenceService after a time (docs/adr/0115).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Final

from components.addons.kserve.runtimes import HTTP, MODELS, SERVERS
from components.workloads import (
    Claim,
    ModelServerArgs,
    Pod,
    Resources,
    TrainingJobArgs,
    WorkloadManifest,
    WorkloadManifests,
    model_server,
    training_job,
)
from components.workloads.metadata import metadata
from components.workloads.pods import USER
from slipway.quickstarts.request import Attempt, QuickstartRequest
from slipway.quickstarts.units import Unit, units, with_gpu
from spec.quantities import CPU, MEMORY

_CACHE: Final = "/cache"
_SHARED_MEMORY: Final = "1Gi"


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model, and the server for it."""

    server: str  # kind of the runtime: `vllm`
    format: str
    folder: str  # folder below the team's prefix of the bucket `models`


def serving_attempts(model: Model, request: QuickstartRequest) -> Iterator[Attempt]:
    """The model on each pool of the team: first where the node that it needs adds least to the bill."""
    if request.seconds is None:
        yield from _kept(model, request)
        return
    for unit in with_gpu(request.target, request.platform):
        build = partial(_session, request, model, unit, request.seconds)
        node = unit.node(unit.resources())
        yield Attempt(place=f"pool {unit.pool.name}", pool=unit.pool.name, build=build, node=node)


def _session(request: QuickstartRequest, model: Model, unit: Unit, seconds: int) -> WorkloadManifests:
    server = SERVERS[model.server]
    sharers = unit.pool.sharing.replicas if unit.pool.sharing else 1
    # As in the platform's runtime, but with the model where the claim shows it.
    made = server.container(server.gpu, {}, sharers=sharers)
    folder = f"{MODELS}/{model.folder}"
    args = [each.replace(MODELS, folder).replace("{{.Name}}", request.name) for each in made["args"]]
    job = TrainingJobArgs(
        target=request.target,
        pod=Pod(
            image=server.gpu,
            command=server.command,
            args=args,
            env={**server.environment, "XDG_CACHE_HOME": _CACHE},
            pools=(unit.pool.name,),
            resources=unit.resources(),
            volumes={
                "models": Claim(claim="models", path=MODELS, read_only=True),
                # What a server compiles is there for the next session, also after a Spot interruption.
                "cache": Claim(claim="checkpoints", path=_CACHE, sub_path=f"{request.name}-cache"),
            },
            shared_memory=_SHARED_MEMORY if server.shared_memory else None,
            writable_root=True,
            user=USER if server.user is None else server.user,
        ),
        deadline_seconds=seconds,
        priority=request.priority("interactive"),
        suspend=request.queued("Job"),
    )
    return {"address": WorkloadManifest(_address(request)), **training_job(request.name, job)}


def _address(request: QuickstartRequest) -> dict[str, Any]:
    """The Service; `kubectl port-forward service/NAME 8080:80` makes it available."""
    port = {"name": "http", "port": 80, "targetPort": HTTP, "protocol": "TCP"}
    spec = {"selector": {"app.kubernetes.io/name": request.name}, "ports": [port], "type": "ClusterIP"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata(request.name, request.target), "spec": spec}


def _kept(model: Model, request: QuickstartRequest) -> Iterator[Attempt]:
    """On each runtime of its server with one GPU, MIG instance or share of a GPU of the team's pools.

    The runtime for CPUs, if the server has one, is the last resort.
    """
    having = {unit.pool.name: unit for unit in units(request.target, request.platform)}
    runtimes = {
        name: runtime
        for name, runtime in (request.target.runtimes or {}).items()
        if name == model.server or name.startswith(f"{model.server}-")
    }
    found = []
    for name, runtime in runtimes.items():
        build, place = partial(_serve, request, model, name), f"runtime {name}"
        if runtime.place is None:
            found.append(((1, Decimal(0), Decimal(0), name), Attempt(place=place, pool="cpu", build=build)))
        elif runtime.place.count == 1 and runtime.place.spec.name in having:
            unit, requests = having[runtime.place.spec.name], runtime.place.resources()["requests"]
            node = unit.node(Resources(cpu=requests[CPU], memory=requests[MEMORY]))
            attempt = Attempt(place=place, pool=unit.pool.name, build=build, node=node)
            found.append(((0, node.added(), node.hourly * unit.share, name), attempt))
    yield from (attempt for _, attempt in sorted(found, key=lambda one: one[0]))


def _serve(request: QuickstartRequest, model: Model, runtime: str) -> WorkloadManifests:
    args = ModelServerArgs(
        target=request.target,
        runtime=runtime,
        model_format=model.format,
        storage_uri=f"{request.models}{model.folder}",
        priority=request.priority("production-inference"),
    )
    return model_server(request.name, args)

"""ClusterServingRuntimes of the platform: each model server for CPUs, and for each GPU pool that may serve models.

KServe's own runtimes (chart kserve-runtime-configs v0.20.0) use old images or `latest` and request no GPU; these are
pinned, with the command line of each server's documentation.

A runtime binds a server to a pool: `vllm-gpu-spot` requests one GPU of the pool `gpu-spot` and tolerates its taints;
`vllm-a100-x4` requests four GPUs of a node; `triton-a100-2g.20gb` requests one MIG instance. So a model selects its
hardware by naming a runtime. Runtimes for CPUs are auto-selected if a model names none: they cost least and never wait
for a GPU.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from pydantic import TypeAdapter

from components.base.operator import RESTRICTED
from spec import strict_yaml
from spec.pools import keys
from spec.pools.allocatable import allocatable
from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, MEMORY, format_mebibytes, quantity
from spec.settings.pools import Role

MODELS: Final = "/mnt/models"  # where KServe puts the model before the server starts
HTTP: Final = 8080
_FILLED: Final = 90
"""Percent of a GPU's memory that vLLM fills by default (`gpu_memory_utilization`, vllm/config/cache.py). On a shared
GPU the pods of the others would find none."""


@dataclass(frozen=True, kw_only=True)
class ErrorMetrics:
    """Counters of a server by which its error rate is computed: selectors `name{label="value"}`, to be added up."""

    failed: tuple[str, ...]  # requests that the server failed
    answered: tuple[str, ...]  # all requests, those that failed among them


@dataclass(frozen=True, kw_only=True)
class ServerImage:
    """One kind of model server."""

    cpu: str | None  # image for CPUs; None if the server is of no use without a GPU
    gpu: str
    source: str  # where and when the tags were read
    formats: Mapping[str, Sequence[str]]  # model formats with their versions
    protocols: Sequence[str]  # KServe protocols that it supports
    command: Sequence[str] = ()  # command; the image's default if empty
    args: Sequence[str]  # arguments. `{{.Name}}` is the name of the InferenceService, filled in by KServe
    metrics: tuple[int, str]  # port and path of its metrics
    health: str  # path that returns 200 once the model is loaded
    waiting: str | None = None  # metric that counts waiting requests; None if it has none
    errors: ErrorMetrics | None = None
    """Its counters of failed requests; None if it has none that Prometheus reads here."""
    parallel: str | None = None
    """Argument with which it uses that many GPUs for one model, with `{}` for the number; empty if it uses all GPUs
    that it sees; None if it uses only one."""
    memory: str | None = None
    """Argument with the part of a GPU's memory that it fills, with `{}` for the part; None if it takes what its models
    need."""
    user: int | None = None  # numeric user ID, if the image doesn't set one
    environment: Mapping[str, str] = field(default_factory=dict)  # environment variables
    shared_memory: bool = False  # whether its processes share memory

    def container(self, image: str, resources: Mapping[str, Any], *, gpus: int = 1, sharers: int = 1) -> dict[str, Any]:
        """The container `kserve-container`, without root and without capabilities. `sharers` pods use each GPU."""
        several = [self.parallel.format(gpus)] if self.parallel and gpus > 1 else []
        if self.memory and sharers > 1:
            several.append(self.memory.format(f"{_FILLED // sharers / 100:.2f}"))
        security = {**RESTRICTED, **({} if self.user is None else {"runAsUser": self.user})}
        return {
            "name": "kserve-container",
            "image": image,
            **({"command": list(self.command)} if self.command else {}),
            "args": [*self.args, *several],
            "ports": [{"containerPort": HTTP, "protocol": "TCP"}],
            **({"env": [{"name": k, "value": v} for k, v in self.environment.items()]} if self.environment else {}),
            # Without one, KServe asks whether the port is open, which it may be while the model is still loading.
            "readinessProbe": {"httpGet": {"path": self.health, "port": HTTP}, "periodSeconds": 5, "timeoutSeconds": 5},
            "resources": dict(resources),
            "securityContext": security,
            **({"volumeMounts": [{"name": "shared-memory", "mountPath": "/dev/shm"}]} if self.shared_memory else {}),  # noqa: S108
        }


SERVERS: Final = TypeAdapter(dict[str, ServerImage]).validate_python(strict_yaml.beside(__file__, "servers"))
VLLM_ERRORS: Final = cast("ErrorMetrics", SERVERS["vllm"].errors)
TRITON_ERRORS: Final = cast("ErrorMetrics", SERVERS["triton"].errors)


METRICS_PORT: Final = "prometheus.kserve.io/port"
METRICS_PATH: Final = "prometheus.kserve.io/path"
"""Annotations of a runtime, which KServe copies to its pods; the PodMonitor `slipway-serving` reads them."""
_CPU: Final = {"requests": {CPU: "1", MEMORY: "2Gi"}, "limits": {MEMORY: "2Gi"}}
_CPU_STEP: Final = 100
_MEMORY_STEP: Final = 256  # requests are multiples of 0.1 vCPU and 256 MiB


@dataclass(frozen=True, kw_only=True)
class RuntimePlace:
    """Where a runtime's pods run."""

    suffix: str  # suffix of the runtime's name
    spec: PoolSpec
    resource: str  # resource name of a GPU or MIG instance
    count: int = 1  # how many of them a pod requests

    @property
    def mig(self) -> bool:
        """Whether it is a MIG instance."""
        return self.resource.startswith(keys.MIG)

    def resources(self) -> dict[str, Any]:
        """Requests and limits: the GPUs, and their part of the CPU and memory of the pool's smallest node, on which as
        many pods then fit as it has GPUs."""
        nodes = allocatable(self.spec)
        whole = sum(_weight(name) * count for name, count in _gpus(self.spec).items())
        part = _weight(self.resource) * self.count
        cpu = min(node.cpu_millis for node in nodes) * part // whole
        memory = min(node.memory_mib for node in nodes) * part // whole
        size = {MEMORY: format_mebibytes(_rounded(memory, _MEMORY_STEP)), self.resource: str(self.count)}
        # Without a CPU limit: tokenizers and pre-processing use what others on the node don't.
        return {"requests": {CPU: quantity(CPU, _rounded(cpu, _CPU_STEP)), **size}, "limits": size}


@dataclass(frozen=True, kw_only=True)
class NamedRuntime:
    """A runtime of the platform."""

    server: ServerImage
    place: RuntimePlace | None  # where its pods run; None for CPUs


def named(pools: Mapping[str, PoolSpec], servers: Sequence[str]) -> dict[str, NamedRuntime]:
    """Runtimes by name.

    Args:
        pools: Pools of the stack.
        servers: Names of the servers to offer.
    """
    found: dict[str, NamedRuntime] = {}
    for name in servers:
        server = SERVERS[name]
        if server.cpu is not None:
            found[name] = NamedRuntime(server=server, place=None)
        for place in places(pools):
            if place.count == 1 or server.parallel is not None:
                found[f"{name}-{place.suffix}"] = NamedRuntime(server=server, place=place)
    return found


def runtimes(pools: Mapping[str, PoolSpec], servers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Manifests of the runtimes by name; arguments as for `named`."""
    return {name: manifest(name, runtime) for name, runtime in named(pools, servers).items()}


def places(pools: Mapping[str, PoolSpec]) -> Iterator[RuntimePlace]:
    """Where a GPU server can run: one GPU or MIG instance, and 2, 4 and 8 GPUs of a node that has as many.

    Training pools are excluded: their nodes are for jobs that use them whole.
    """
    for name, spec in pools.items():
        if spec.gpu is None or spec.role in (Role.TRAINING, Role.SYSTEM):
            continue
        for resource, count in _gpus(spec).items():
            profile = resource.partition("mig-")[2]
            yield RuntimePlace(suffix=f"{name}-{profile}" if profile else name, spec=spec, resource=resource)
            if resource == keys.GPU and spec.sharing is None:
                several = (2**power for power in range(1, count.bit_length()))
                yield from (RuntimePlace(suffix=f"{name}-x{n}", spec=spec, resource=resource, count=n) for n in several)


def _gpus(spec: PoolSpec) -> dict[str, int]:
    """GPUs or MIG instances of a node."""
    return {name: count for name, count in spec.resources.items() if name.startswith(keys.NVIDIA)}


def _weight(resource: str) -> int:
    """Compute slices of a MIG instance (`nvidia.com/mig-2g.20gb`: 2); 1 for a GPU, which is never beside instances."""
    return int(resource.removeprefix(keys.MIG).partition("g")[0]) if resource.startswith(keys.MIG) else 1


def _rounded(amount: int, step: int) -> int:
    return max(step, amount // step * step)


def manifest(name: str, runtime: NamedRuntime) -> dict[str, Any]:
    """The ClusterServingRuntime of a server at its place."""
    server, place = runtime.server, runtime.place
    if place is None:
        assert server.cpu is not None, "`named` leaves it out"  # noqa: S101
        return _runtime(name, server, server.container(server.cpu, _CPU), automatic=True)
    sharers = place.spec.sharing.replicas if place.spec.sharing else 1
    container = server.container(server.gpu, place.resources(), gpus=place.count, sharers=sharers)
    found = _runtime(name, server, container, automatic=False)
    found["spec"] |= {
        "nodeSelector": {keys.POOL: place.spec.name},
        "tolerations": [toleration.manifest for toleration in place.spec.tolerations],
    }
    return found


def _runtime(name: str, server: ServerImage, container: dict[str, Any], *, automatic: bool) -> dict[str, Any]:
    port, path = server.metrics
    formats = [
        # The priority decides which runtime is selected if two can load a format.
        {"name": kind, "version": version, "autoSelect": automatic, **({"priority": 1} if automatic else {})}
        for kind, versions in server.formats.items()
        for version in versions
    ]
    volumes = [{"name": "shared-memory", "emptyDir": {"medium": "Memory"}}] if server.shared_memory else []
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ClusterServingRuntime",
        "metadata": {"name": name},
        "spec": {
            "annotations": {METRICS_PORT: str(port), METRICS_PATH: path},
            "supportedModelFormats": formats,
            "protocolVersions": list(server.protocols),
            "containers": [container],
            **({"volumes": volumes} if volumes else {}),
        },
    }
